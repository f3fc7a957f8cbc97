"""Addresses of the elements of numpy's arrays, and checks that memory may be written."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.platform import c_function

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


# The parts of memory that this process could write when it last looked, joined where they touch.
_writable: list[tuple[int, int]] = []
_MS_ASYNC = 1


def is_writable(address: int, size: int) -> bool:
    """Return whether this process may write the bytes from an address on; True if nothing tells."""
    if _is_known(address, size) and _is_mapped(address, size):
        return True
    try:
        with open("/proc/self/maps", "rb") as file:
            lines = file.readlines()  # such as b"7f0000000000-7f0000021000 rw-p 00000000 00:00 0"
    except OSError:
        return True
    _writable.clear()
    for line in lines:
        first, end = (int(number, 16) for number in line.split()[0].split(b"-"))
        if line.split()[1].startswith(b"rw"):
            begins_at_last = _writable and _writable[-1][1] == first
            _writable.append((_writable.pop()[0] if begins_at_last else first, end))
    return _is_known(address, size)


def _is_known(address: int, size: int) -> bool:
    return any(first <= address and address + size <= end for first, end in _writable)


def _is_mapped(address: int, size: int) -> bool:
    """Return whether all pages are mapped, whatever their rights: this takes no time."""
    msync, page = c_function("msync"), address % mmap.PAGESIZE
    if msync is None:
        return False
    length = ctypes.c_size_t(size + page)
    return int(msync(ctypes.c_void_p(address - page), length, _MS_ASYNC)) == 0
