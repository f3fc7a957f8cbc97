"""Results that are written to a tensor of the program: `out=`, and methods in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array, cut
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.dtypes import NUMPY_DTYPES, can_cast, dtype
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.shapes import Shape, listed
from th_shell.torch.base.warn import warn
from th_shell.torch.tensors.tensor import Tensor, resize_storage


def cast(values: Array, kind: np.dtype[Any]) -> Array:
    """Return an array's elements converted as C does; the array itself if it has the type.

    Floats are cut; those that do not fit an integer type become the smallest number of it (a type
    of 32 bits, or 64), which then wraps.
    """
    if values.dtype == kind:
        return values
    if values.dtype.kind == "f" and kind.kind in "iu":
        return cut(values, 8 if kind.itemsize == 8 else 4).astype(kind, copy=False)
    converted: Array = quietly.run(values.astype, kind)
    return converted


def check_cast(result: dtype, target: dtype) -> None:
    """Raise RuntimeError where a result's category is above that of the tensor for it."""
    if not can_cast(result, target):
        raise RuntimeError(
            f"result type {result.scalar} can't be cast to the desired output type {target.scalar}"
        )


def check_writable(array: Array) -> None:
    """Raise ValueError, as numpy does, for memory that may only be read.

    Whatever writes by an address, and numpy's ``ufunc.at``, would write to it.
    """
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")


def check_single(array: Array) -> None:
    """Raise RuntimeError for a target that is expanded, so that its elements are one place.

    Raises ValueError for one that may only be read.
    """
    flags = array.flags
    if not flags.writeable:
        check_writable(array)
    if flags.forc:
        return
    if any(step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def check_shape(array: Array, shape: Shape) -> None:
    """Raise RuntimeError where a tensor in place has not the shape of its result."""
    if array.shape != shape:
        raise RuntimeError(
            f"output with shape {listed(array.shape)} doesn't match the broadcast shape "
            f"{listed(shape)}"
        )


def check_target(array: Array, shape: Shape) -> None:
    """Raise RuntimeError where a tensor cannot take a result of a shape in place."""
    check_single(array)
    check_shape(array, shape)


def write_in_place(target: Tensor, result: Tensor) -> Tensor:
    """Set a tensor's elements to a result of its shape. Raises RuntimeError, before it writes."""
    array, values = target.array, result.array
    check_cast(NUMPY_DTYPES[values.dtype], NUMPY_DTYPES[array.dtype])
    check_target(array, values.shape)
    np.copyto(array, cast(values, array.dtype))
    return target


def resize_to(out: Tensor, shape: Shape, *, warns: bool = True) -> None:
    """Give a tensor for a result the result's shape, as `out=` does; warns if it had elements."""
    array = out.array
    if array.shape == shape:
        return
    if array.size and warns:
        warn(
            f"An output with one or more elements was resized since it had shape "
            f"{listed(array.shape)}, which does not match the required output shape "
            f"{listed(shape)}. This behavior is deprecated, and in a future PyTorch release "
            f"outputs will not be resized unless they have zero elements. You can explicitly reuse "
            f"an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
        )
    resize(out, shape)


def resize(out: Tensor, shape: Shape, strides: Shape | None = None) -> None:
    """Make a tensor one of a shape, by default contiguous; its storage grows if it is too small."""
    place_in(out, out.storage_object, out.offset, shape, strides or contiguous_strides(shape))


def place_in(out: Tensor, storage: Storage, offset: int, shape: Shape, strides: Shape) -> None:
    """Make a tensor a view of a storage, which grows where it is too small."""
    width = out.dtype.itemsize
    if 0 not in shape:
        last = sum([(n - 1) * step for n, step in zip(shape, strides, strict=True)])
        needed = (offset + last + 1) * width
        if needed > storage.data.nbytes:
            resize_storage(storage, -(-needed // storage.data.itemsize))
    out.set_view(storage, offset * width, shape, tuple([step * width for step in strides]))


def deliver(out: Any, result: Any) -> Any:
    """Write results to the tensors of `out=`, if there are any, which get their shapes.

    They may have another type, of no lower category. Returns what has the results. Raises
    TypeError where there are not as many tensors as results, RuntimeError where a type cannot take
    the result; nothing is written then.
    """
    if out is None:
        return result
    if out.__class__ is Tensor is result.__class__:
        array, values = out.array, result.array
        if array.dtype is values.dtype and array.shape == values.shape:
            array[...] = values  # takes a third of the time of np.copyto
            return out
    outs, results = (out, result) if isinstance(out, tuple) else ((out,), (result,))
    if len(outs) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(outs)}")
    for target, value in zip(outs, results, strict=True):
        check_cast(value.dtype, target.dtype)
    for target, value in zip(outs, results, strict=True):
        resize_to(target, value.sizes)
        np.copyto(target.array, cast(value.array, target.array.dtype))
    return type(result)(*outs) if isinstance(out, tuple) else out


def delivered(result: Tensor, out: Tensor | None, input: Tensor | None = None) -> Tensor:
    """Return the tensor of `out=` with a result. Raises RuntimeError.

    input: where that is the tensor itself the function works in place, and its sizes stay.
    """
    if out is None or out is not input:
        written: Tensor = deliver(out, result)
        return written
    if out.sizes != result.sizes:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {listed(out.sizes)} and output tensor size "
            f"{listed(result.sizes)} should match"
        )
    return write_in_place(out, result)
