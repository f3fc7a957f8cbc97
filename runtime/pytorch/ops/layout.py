"""How a tensor lies in its storage: strides, contiguous memory, as_strided, resize_, set_.

PyTorch's documentation: torch.Tensor, Tensor Views.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.storage import Storage
from runtime.core.tensor import contiguous_strides
from runtime.pytorch.base.formats import MEMORY_FORMATS, memory_format
from runtime.pytorch.base.shapes import Shape, listed, wrap_dim
from runtime.pytorch.calls.kinds import register_kind
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Format
from runtime.pytorch.classes.storages import TypedStorage, UntypedStorage
from runtime.pytorch.ops.views import in_place
from runtime.pytorch.tensors.layouts import copy_of
from runtime.pytorch.tensors.tensor import Tensor, view_of, wrap
from runtime.pytorch.tensors.writing import place_in

register_kind("torch.Storage", TypedStorage, UntypedStorage)


@op(function=False)
def stride(input: Tensor, dim: int | None = None) -> Any:
    """How many elements of the storage lead to the next one, in all dimensions or in one."""
    if dim is None:
        return input.strides
    return input.strides[wrap_dim(dim, len(input.sizes), takes_scalar=False)]


@op(function=False)
def storage_offset(input: Tensor) -> int:
    """The position of the first element in the storage."""
    return input.place // input.dtype.itemsize


@op(function=False)
def element_size(input: Tensor) -> int:
    """How many bytes an element has."""
    return input.dtype.itemsize


@op()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.sizes == other.sizes


# -- orders of the dimensions in memory

#: The order of dimensions from the outermost to the innermost, by memory format.
_ORDERS = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def _is_in_order(array: Any, name: str) -> bool:
    if name in ("contiguous_format", "preserve_format"):
        return bool(array.flags.c_contiguous)
    order = _ORDERS[name]
    if array.ndim != len(order):
        return False
    return bool(array.transpose(order).flags.c_contiguous)


_contiguous, *_ = MEMORY_FORMATS


@op(function=False)
def is_contiguous(input: Tensor, *, memory_format: memory_format = _contiguous) -> bool:
    """Whether the elements follow each other in memory, in the order of their indices."""
    return _is_in_order(input.array, memory_format.name)


@op(function=False)
def contiguous(input: Tensor, *, memory_format: memory_format = _contiguous) -> Tensor:
    """The tensor itself if it is contiguous, else a copy that is."""
    array, name = input.array, memory_format.name
    if name in _ORDERS and array.ndim != len(_ORDERS[name]):
        raise RuntimeError(f"required rank {len(_ORDERS[name])} tensor to use {name} format")
    if _is_in_order(array, name):
        return input
    if name == "preserve_format":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return wrap(copy_of(input, input.dtype, memory_format))


# -- any view of a storage


def _check_view(size: Shape, stride: Shape, offset: int) -> None:
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: "
            f"{listed(stride)}"
        )
    _check_sizes(size, stride, offset)


def _check_sizes(size: Shape, stride: Shape, offset: int) -> None:
    if any(n < 0 for n in (*size, *stride)):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={listed(size)} and "
            f"strides={listed(stride)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")


@op()
def as_strided(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """A view of the tensor's storage with any sizes, strides and offset.

    Raises RuntimeError where it would reach beyond the storage.
    """
    width = input.array.itemsize
    place = input.place if storage_offset is None else storage_offset * width
    _check_view(size, stride, place // width)
    view = view_of(input, input.array)
    view.set_view(input.storage_object, place, size, tuple(step * width for step in stride))
    return view


in_place(as_strided, "as_strided_")


@op(function=False)
def resize_(input: Tensor, size: Shape, *, memory_format: Format = None) -> Tensor:
    """Give the tensor other sizes; its storage grows where it has too few elements.

    The tensor is contiguous then, unless it has the sizes already. New elements are undetermined.
    """
    if size == input.sizes and memory_format is None:
        return input
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    offset = input.place // input.dtype.itemsize
    place_in(input, input.storage_object, offset, size, contiguous_strides(size))
    return input


@op()
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Format = None) -> Tensor:
    """Give the tensor the sizes of another one."""
    return resize_(input, the_template.array.shape)


def _storage_of(source: TypedStorage | UntypedStorage, input: Tensor) -> Storage:
    if isinstance(source, TypedStorage) and source.dtype is not input.dtype:
        raise RuntimeError(
            f"Expected a Storage of type {input.dtype} or an UntypedStorage, but got type "
            f"{source.dtype} for argument 1 'storage'"
        )
    return source.object


@op(function=False)
def set_(input: Tensor) -> Tensor:
    """Make the tensor one without elements."""
    input.become(wrap(np.empty(0, input.dtype.numpy)))
    return input


@op("set_(Tensor input, torch.Storage source)", function=False)
def set_storage(input: Tensor, source: Any) -> Tensor:
    """Make the tensor a view of all elements of a storage."""
    storage = _storage_of(source, input)
    place_in(input, storage, 0, (storage.data.nbytes // input.dtype.itemsize,), (1,))
    return input


_PLACE = "int storage_offset, tuple of ints size, tuple of ints stride = None"


@op(f"set_(Tensor input, torch.Storage source, {_PLACE})", function=False)
def set_view(
    input: Tensor, source: Any, storage_offset: int, size: Shape, stride: Shape | None = None
) -> Tensor:
    """Make the tensor a view of a storage, which grows where it is too small.

    source: the storage, or a tensor of any type that has it.
    """
    is_tensor = isinstance(source, Tensor)
    storage = source.storage_object if is_tensor else _storage_of(source, input)
    stride = stride or contiguous_strides(size)
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    _check_sizes(size, stride, storage_offset)
    place_in(input, storage, storage_offset, size, stride)
    return input


@op(name="set_", function=False)
def set_tensor(input: Tensor, source: Tensor) -> Tensor:
    """Make the tensor the same view as another one, of the same storage."""
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype.real} to a tensor of type "
            f"{input.dtype.real}"
        )
    input.become(source)
    return input


op(f"set_(Tensor input, Tensor source, {_PLACE})", function=False)(set_view)
