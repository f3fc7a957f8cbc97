"""Tensors as Python programs see them, and the runtime's storages under them.

This is the one place that knows the classes that programs get.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.core.dtypes import DTYPES, Array, DType
from runtime.core.storage import STORAGE_CLASSES, Storage
from runtime.core.tensor import Sizes
from runtime.pytorch.tensor import Tensor, at_storage, wrap

__all__ = ["Geometry", "geometry_of", "storage_face", "storage_of", "tensor_face", "tensor_over"]

_BY_NUMPY = {dtype.numpy: dtype for dtype in DTYPES}


@dataclass(frozen=True)
class Geometry:
    """A tensor as Torch7 has it: the storage that it views, from which element on, and how.

    dtype: the element type. offset: from 0, in elements, as the strides.
    """

    dtype: DType
    storage: Storage | None
    offset: int
    sizes: Sizes
    strides: Sizes


def tensor_face(geometry: Geometry) -> Any:
    """What programs get for a tensor. One without dimensions is empty, as in Torch7."""
    storage = geometry.storage
    if storage is None:
        return wrap(np.empty(0, geometry.dtype.numpy))
    if not geometry.sizes:
        return at_storage(storage, 0, (0,), (1,))
    return at_storage(storage, geometry.offset, geometry.sizes, geometry.strides)


def storage_face(storage: Storage) -> Any:
    """What programs get for a storage."""
    return storage


def storage_of(value: Any) -> Storage | None:
    """The runtime's storage under what a program has; None for another object."""
    return value if isinstance(value, Storage) else None


def geometry_of(value: Any) -> Geometry | None:
    """A program's tensor, or its array, as Torch7 has it; None for another object.

    Both then have the same memory. A tensor of PyTorch without a dimension has one here, since
    Torch7 has no such tensors. Raises TypeError for an element type that Torch7 does not have, and
    ValueError for an array that no tensor can be.
    """
    if isinstance(value, Tensor):
        return _geometry(value)
    if isinstance(value, np.ndarray):
        return _geometry(tensor_over(value))
    # Real tensors of PyTorch, among others, tell their memory so. (numpy's numbers do, too.)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return _geometry(tensor_over(np.asarray(value)))
    return None


def tensor_over(array: Array) -> Tensor:
    """A tensor over the memory of an array, which both then share. Errors: see `geometry_of`."""
    if not array.flags.writeable:
        raise ValueError("the array is read-only; pass a copy of it")
    width = array.itemsize
    if not array.flags.aligned or any(step < 0 or step % width for step in array.strides):
        raise ValueError("no tensor can have the array's strides; pass a copy of it")
    _type_of(array.dtype)
    return wrap(array)


def _type_of(kind: np.dtype[Any]) -> DType:
    dtype = _BY_NUMPY.get(kind)
    if dtype is None:
        raise TypeError(f"Torch7 has no tensors of {kind}")
    return dtype


def _geometry(tensor: Tensor) -> Geometry:
    dtype = _type_of(tensor.dtype.numpy)
    sizes = tensor.sizes
    if 0 in sizes:
        return Geometry(dtype, tensor._storage, 0, (), ())
    storage = tensor.storage_object
    if not isinstance(storage, STORAGE_CLASSES[dtype.index]):
        raise TypeError(f"Torch7 has no tensors of {dtype.name} over a {storage.dtype.name}Storage")
    if not sizes:
        return Geometry(dtype, storage, tensor.offset, (1,), (1,))
    return Geometry(dtype, storage, tensor.offset, sizes, tensor.strides)
