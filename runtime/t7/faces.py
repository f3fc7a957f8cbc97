"""Tensors as Python programs see them, and the core's tensors under them.

This is the one place that knows the class that programs get: all else here has core tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import DTYPES, Array
from runtime.core.storage import STORAGE_CLASSES, Storage
from runtime.core.tensor import TENSOR_CLASSES, Tensor, contiguous_strides

__all__ = ["core_of", "storage_face", "tensor_face", "tensor_over"]

_BY_NUMPY = {dtype.numpy: dtype for dtype in DTYPES}


def tensor_face(tensor: Tensor) -> Any:
    """What programs get for a tensor."""
    return tensor


def storage_face(storage: Storage) -> Any:
    """What programs get for a storage."""
    return storage


def core_of(value: Any) -> Tensor | Storage | None:
    """The core's tensor or storage under what a program has; None for another object."""
    return value if isinstance(value, (Tensor, Storage)) else None


def tensor_over(array: Array) -> Tensor:
    """A tensor over the memory of an array, which both then share.

    Raises TypeError for an element type that Torch7 does not have, and ValueError for memory that
    no tensor can have: read-only, in another byte order, or with negative strides.
    """
    dtype = _BY_NUMPY.get(array.dtype)
    if dtype is None:
        raise TypeError(f"Torch7 has no tensors of {array.dtype}")
    if not array.flags.writeable:
        raise ValueError("the array is read-only; pass a copy of it")
    cls = TENSOR_CLASSES[dtype.index]
    if not array.size:
        return cls()
    width = array.itemsize
    if not array.flags.aligned or any(s < 0 or s % width for s in array.strides):
        raise ValueError("the array's strides are no tensor's; pass a copy of it")
    sizes = array.shape or (1,)
    strides = tuple(s // width for s in array.strides) or (1,)
    if array.flags.c_contiguous:
        strides = contiguous_strides(sizes)
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    data = np.lib.stride_tricks.as_strided(array, (reach + 1,), (width,))
    storage = STORAGE_CLASSES[dtype.index](data, owner=array)
    return cls(storage, 0, sizes, strides)
