"""Algorithms that go one element after the other, run by LuaJIT over numpy's memory.

The engine installs the functions of ``lua/kernels.lua`` here; operations call them with
arrays and never see Lua.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.dtypes import Array

__all__ = [
    "draw_slots",
    "cumsum_rows",
    "install",
    "pair_slots",
    "select_rows",
    "shuffle",
    "sort_rows",
]

_find: Callable[[bytes], Callable[..., Any]] | None = None


def install(find: Callable[[bytes], Callable[..., Any]]) -> None:
    """Set what finds a kernel by name."""
    global _find
    _find = find


def _run(name: bytes, *args: Any) -> None:
    assert _find is not None, "no engine runs"
    _find(name)(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])


def cumsum_rows(rows: Array, out: Array) -> None:
    """The running sums along the last dimension; both are contiguous arrays of doubles."""
    n = rows.shape[-1]
    _run(b"cumsum", rows, out, rows.size // n, n)


def _keys(rows: Array, descending: bool) -> tuple[Array, Array]:
    keys = np.array(rows, np.float64, order="C")
    if descending:
        np.negative(keys, out=keys)
    index = np.empty(keys.shape, np.int32)
    index[...] = np.arange(keys.shape[1], dtype=np.int32)
    return keys, index


def sort_rows(rows: Array, descending: bool = False) -> Array:
    """For each row of a matrix the positions of its elements in order, as the reference sorts.

    numpy sorts; the order of equal elements comes from going the reference's way.
    """
    keys, index = _keys(rows, descending)
    order = np.argsort(keys, axis=1).astype(np.int32)
    found = np.take_along_axis(keys, order, 1)
    equal = np.zeros(keys.shape, np.int32)
    np.equal(found[:, 1:], found[:, :-1], out=equal[:, 1:])
    if equal.any():
        np.cumsum(equal, axis=1, dtype=np.int32, out=equal)
        _run(b"order_equals", keys, index, equal, order, *keys.shape)
    return order


def select_rows(rows: Array, k: int) -> Array:
    """For each row of a matrix its positions in an order with the k-th smallest (from 0) at k."""
    keys, index = _keys(rows, False)
    _run(b"select", keys, index, *keys.shape, k)
    return index


def shuffle(values: Array, targets: Array, first: int) -> None:
    """Swap int32 elements, one after the other from ``first``, with those at their targets.

    targets: int32, counted from ``first``.
    """
    _run(b"shuffle", values, targets, first, len(targets))


def draw_slots(cumulative: Array, uniform: Array, replace: bool) -> Array:
    """Positions in rows of cumulative distributions (which change) of uniform numbers."""
    drawn = np.empty(uniform.shape, np.int32)
    _run(b"draw", cumulative, uniform, drawn, *cumulative.shape, uniform.shape[1], replace)
    return drawn


def pair_slots(shares: Array) -> Array:
    """Even out the shares of a distribution, in place; returns who fills each one up.

    shares: floats or doubles, 1 on average. Positions count from 0, which is also where no
    filling was needed.
    """
    aliases = np.zeros(len(shares), np.int32)
    stacks = np.empty(2 * len(shares), np.int32)
    _run(b"pair", shares, aliases, stacks, len(shares), shares.itemsize)
    return aliases
