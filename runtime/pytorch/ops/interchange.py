"""Tensors and what shares their memory or takes their elements: storages, numpy, pickle.

PyTorch's documentation: torch.Tensor, torch.from_numpy.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.pickles import makes, restored
from th_shell.torch.base.dtypes import default_dtype, dtype, dtype_of
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.shapes import Shape
from th_shell.torch.base.warn import warn, warn_once
from th_shell.torch.calls.table import op
from th_shell.torch.compute.literals import check_steps
from th_shell.torch.tensors.printing import scalar_format, tensor_text
from th_shell.torch.tensors.storages import TypedStorage, UntypedStorage, copied, untyped
from th_shell.torch.tensors.tensor import Tensor, storage_over, wrap

# -- storages

_REMOVAL = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


@op(function=False)
def storage(input: Tensor) -> TypedStorage:
    """Return the storage, with elements of the tensor's type."""
    warn_once(_REMOVAL)
    return TypedStorage(input.storage_object, dtype=input.dtype)


@op(function=False)
def untyped_storage(input: Tensor) -> UntypedStorage:
    """Return the storage's bytes; always the same object."""
    return untyped(input.storage_object)


@op(function=False)
def data_ptr(input: Tensor) -> int:
    """Return the address of the first element; 0 where there is none."""
    array = input.array
    return address_of(array) if array.size else 0


@op(function=False)
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Tell whether both are the same view of the same storage."""
    a, b = input.array, tensor.array
    same = a.shape == b.shape and input.strides == tensor.strides and a.dtype == b.dtype
    same = same and input.storage_object is tensor.storage_object
    return same and (not a.size or address_of(a) == address_of(b))


# -- numpy


def share_array(array: Array) -> Tensor:
    """Return a tensor that shares an array's memory. Raises TypeError and ValueError."""
    dtype_of(array.dtype)
    check_steps(array)
    if any(step % array.itemsize for step in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    plain = array.view(np.ndarray)  # the methods of other classes give other shapes
    tensor = wrap(plain)
    tensor._storage = storage = storage_over(plain, owner=array)
    tensor._memory = storage.data
    return tensor


@op()
def from_numpy(ndarray: Any) -> Tensor:
    """Return a tensor that shares an array's memory. Raises TypeError and ValueError."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    if not ndarray.flags.writeable:
        warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You may "
            "want to copy the array to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program."
        )
    return share_array(ndarray)


@op(function=False)
def numpy(input: Tensor, *, force: bool = False) -> Array:
    """Return the elements as numpy's array, which shares their memory."""
    return input.array.view()


# -- Python's protocols


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    array = self.array
    if copy:
        return np.array(array, dtype)
    return array.view() if dtype is None or array.dtype == dtype else array.astype(dtype)


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    values = np.asarray(array)
    return share_array(values.astype(np.uint8) if values.dtype == np.bool_ else values)


@makes("Tensor")
def _rebuild(
    storage: UntypedStorage, kind: dtype, place: int, sizes: Shape, strides: Shape
) -> Tensor:
    """Return the tensor of a storage and a view: what pickle and copy call."""
    tensor = wrap(np.empty(0, kind.numpy))
    tensor.set_view(storage.object, place, sizes, strides)
    return tensor


def _geometry(self: Tensor) -> tuple[dtype, int, Shape, Shape]:
    width = self.array.itemsize
    return self.dtype, self.offset * width, self.sizes, tuple([s * width for s in self.strides])


def _reduce_ex(self: Tensor, _: Any) -> tuple[Any, ...]:
    attributes = self.__dict__ or None
    return restored, ("Tensor", untyped(self.storage_object), *_geometry(self)), attributes


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    duplicate: Tensor | None = memo.get(id(self))
    if duplicate is None:
        storage = untyped(copied(self.storage_object, memo))
        duplicate = memo[id(self)] = _rebuild(storage, *_geometry(self))
        duplicate.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return duplicate


_PROTOCOLS = {
    "__array__": _array,
    # With the first numpy keeps the memory, with the second the tensor alone, which may leave it.
    "__array_struct__": property(lambda self: self.array.__array_struct__),
    "__array_interface__": property(lambda self: self.array.__array_interface__),
    "__array_priority__": 1000,
    "__array_wrap__": _array_wrap,
    "__deepcopy__": _deepcopy,
    "__format__": lambda self, spec: scalar_format(self, self.array, spec),
    "__reduce_ex__": _reduce_ex,
    "__repr__": lambda self: tensor_text(self.array, self.dtype, default_dtype()),
}
for _name, _member in _PROTOCOLS.items():
    setattr(Tensor, _name, _member)
