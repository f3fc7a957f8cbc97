"""Storages of tensors: the runtime's, for all element types that PyTorch has."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from runtime.core.dtypes import DTYPES, Array, DType
from runtime.core.errors import TorchError
from runtime.core.storage import STORAGE_CLASSES, Storage, storage_class

#: Element types that Lua does not have. Lua sees the memory of a bool storage as bytes.
_MORE = (
    DType("Bool", "bool", np.dtype(np.bool_), 8),
    DType("UInt16", "unsigned short", np.dtype(np.uint16), 9),
    DType("UInt32", "unsigned int", np.dtype(np.uint32), 10),
    DType("UInt64", "unsigned long", np.dtype(np.uint64), 11),
)
_CLASSES: dict[np.dtype[Any], type[Storage]] = {
    **{t.numpy: c for t, c in zip(DTYPES, STORAGE_CLASSES, strict=True)},
    **{t.numpy: storage_class(t) for t in _MORE},
}


def storage_type(kind: np.dtype[Any]) -> type[Storage]:
    """The class of storages whose elements have one of numpy's types."""
    return _CLASSES[kind]


# The C struct of an array begins, behind what all objects have, with the address of its elements.
_BEHIND_HEAD = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _read_address(array: Array) -> int:
    return _pointer_at(id(array) + _BEHIND_HEAD).value or 0


def _ask_address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _find_way() -> Callable[[Array], int]:
    sample = np.arange(4)[1:]
    return _read_address if _read_address(sample) == _ask_address(sample) else _ask_address


#: The address of an array's first element; to read it takes a tenth of the time that numpy takes.
address_of = _find_way()


def resize_storage(storage: Storage, count: int) -> None:
    """Change a storage's number of elements. Raises RuntimeError where its memory is another's."""
    try:
        storage.resize(count)
    except TorchError as error:
        raise RuntimeError(str(error)) from None


def storage_over(array: Array, owner: Any = None) -> Storage:
    """A new storage over the memory from an array's first element to its last one.

    owner: whose memory it is; the storage cannot be resized then.
    """
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
    else:
        width = array.itemsize
        steps = zip(array.shape, array.strides, strict=True)
        count = 1 + sum((n - 1) * step for n, step in steps) // width
        flat = as_strided(array, (count,), (width,))
    return storage_type(array.dtype)(flat, owner)
