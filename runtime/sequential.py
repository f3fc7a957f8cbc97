"""Algorithms that go one element after the other, run by LuaJIT over numpy's memory.

The engine installs the functions of ``lua/kernels.lua`` here; operations call them with
arrays and never see Lua.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.dtypes import Array

__all__ = ["install", "select_rows", "sort_rows"]

_find: Callable[[bytes], Callable[..., Any]] | None = None


def install(find: Callable[[bytes], Callable[..., Any]]) -> None:
    """Set what finds a kernel by name."""
    global _find
    _find = find


def _run(name: bytes, *args: Any) -> None:
    assert _find is not None, "no engine runs"
    _find(name)(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])


def _keys(rows: Array, descending: bool) -> tuple[Array, Array]:
    keys = np.array(rows, np.float64, order="C")
    if descending:
        np.negative(keys, out=keys)
    index = np.empty(keys.shape, np.int32)
    index[...] = np.arange(keys.shape[1], dtype=np.int32)
    return keys, index


def sort_rows(rows: Array, descending: bool = False) -> Array:
    """For each row of a matrix the positions of its elements in order, as the reference sorts."""
    keys, index = _keys(rows, descending)
    _run(b"sort", keys, index, *keys.shape)
    return index


def select_rows(rows: Array, k: int) -> Array:
    """For each row of a matrix its positions in an order with the k-th smallest (from 0) at k."""
    keys, index = _keys(rows, False)
    _run(b"select", keys, index, *keys.shape, k)
    return index
