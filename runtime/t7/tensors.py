"""Converts between the tensors and storages that Python programs get and those of the runtime.

Only this module knows the classes that programs get.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import DTYPES, Array, DType
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Sizes
from th_shell.runtime.core.tensor import Tensor as LuaTensor
from th_shell.torch.base.dtypes import NUMPY_DTYPES, dtype_of
from th_shell.torch.ops.interchange import share_array
from th_shell.torch.tensors.lua_tensors import from_lua, to_lua
from th_shell.torch.tensors.storages import TypedStorage, UntypedStorage
from th_shell.torch.tensors.tensor import Tensor, wrap

_PIECE = 1 << 20  # elements that are converted, or read from another file, at a time
_BY_NUMPY = {dtype.numpy: dtype for dtype in DTYPES}


def tensor_over(
    dtype: DType, storage: Storage | None, offset: int, sizes: Sizes, strides: Sizes
) -> Tensor:
    """Return the tensor that programs get for one of Torch7; without dimensions it is empty."""
    if storage is None:
        return wrap(np.empty(0, dtype.numpy))
    if storage.is_unread:  # until the tensor's elements are used
        return from_lua(TENSOR_CLASSES[dtype.index](storage, offset, sizes, strides))
    tensor = wrap(np.empty(0, dtype.numpy))
    steps = tuple([stride * dtype.size for stride in strides])
    tensor.set_view(storage, offset * dtype.size, sizes or (0,), steps or (dtype.size,))
    return tensor


def storage_over(storage: Storage) -> TypedStorage:
    """Return the storage that programs get for one of Torch7."""
    return TypedStorage(storage, dtype=dtype_of(storage.dtype.numpy))


def storage_of(value: Any) -> Storage | None:
    """Return the runtime's storage under what a program has; None for another object."""
    if isinstance(value, (TypedStorage, UntypedStorage)):
        return value.object
    return value if isinstance(value, Storage) else None


def tensor_of(value: Any) -> Tensor | None:
    """Return a program's tensor, or one over the memory of its array; None for another object.

    Memory that Lua cannot have is copied: what is read-only or not aligned, has the other byte
    order or strides that no tensor has. Raises TypeError for an array of other things than numbers.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return _over(value)
    # Real tensors of PyTorch, among others, tell their memory so. (numpy's numbers do, too.)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return _over(np.asarray(value))
    return None


def _over(array: Array) -> Tensor:
    native, flags = array.dtype.newbyteorder("="), array.flags
    if native not in NUMPY_DTYPES:
        raise TypeError(f"Torch7 has no tensors of numpy.{native.type.__name__}")
    is_tensor = all(step >= 0 and not step % array.itemsize for step in array.strides)
    if not (is_tensor and flags.writeable and flags.aligned and array.dtype == native):
        array = np.array(array, native, order="C")
    return share_array(array)


def check_writable(storage: Storage) -> None:
    """Raise ValueError for memory that may only be read: Lua writes to any."""
    if not storage.is_unread and not storage.data.flags.writeable:
        raise ValueError("the memory is read-only; pass a copy of it")


def lua_tensor(tensor: Tensor) -> LuaTensor:
    """Return a tensor as Torch7 has it, over the same memory; a copy as bytes for one of bool.

    A tensor of PyTorch without a dimension has one here, since Torch7 has no such tensors. Raises
    TypeError for other element types that Torch7 does not have.
    """
    kind = _BY_NUMPY.get(tensor.dtype.numpy)
    if kind is not None and type(tensor) is Tensor and not tensor._array.size:
        if tensor._storage is None:  # as of a tensor that Torch7 has never given a size
            return TENSOR_CLASSES[kind.index]()
    return to_lua(tensor)


def parts_of(storage: Storage, start: int = 0, stop: int | None = None) -> Iterator[Array]:
    """Yield elements of a storage in parts, one of which is in memory at a time."""
    stop = storage.size if stop is None else stop
    for at in range(start, stop, _PIECE):
        yield storage.part(at, min(at + _PIECE, stop))


def elements(tensor: LuaTensor) -> Iterator[Array]:
    """Yield the elements of a runtime's tensor in parts, of which one at a time is read."""
    storage = tensor.storage
    if storage is None or not tensor.sizes:
        return
    steps = zip(tensor.sizes, tensor.strides, strict=True)
    stop = tensor.offset + 1 + sum((size - 1) * step for size, step in steps)
    if tensor.is_contiguous:
        yield from parts_of(storage, tensor.offset, stop)
        return
    part = storage.part(tensor.offset, stop)
    width = part.itemsize
    strides = tuple([step * width for step in tensor.strides])
    for row in np.ndarray(tensor.sizes, part.dtype, part, 0, strides):
        yield np.asarray(row)
