"""Where in memory the elements of numpy's arrays are."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from runtime.core.dtypes import Array

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
