"""Algorithms that go one element after the other, run by LuaJIT over numpy's memory.

The loops are in ``lua/tensor/kernels.lua``; operations call them with arrays and never see Lua.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.compute.bulk import take_along
from runtime.compute.lua_functions import call_lua
from runtime.core.dtypes import Array

__all__ = [
    "draw_slots",
    "cumsum_rows",
    "pair_slots",
    "select_rows",
    "shuffle",
    "sort_rows",
]


def _run(name: bytes, *args: Any) -> None:
    call_lua(name, *[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])


def _make_safe(numbers: Array) -> bool:
    """Give all nans bits that Lua takes for a number (lua/tensor/elements.lua); whether any are.

    Changes floats or doubles in place.
    """
    if not numbers.size or not np.isnan(np.min(numbers)):
        return False
    numbers[np.isnan(numbers)] = np.nan
    return True


def cumsum_rows(rows: Array, out: Array) -> None:
    """The running sums along the last dimension; both are contiguous arrays of doubles."""
    n = rows.shape[-1]
    _run(b"cumsum", rows, out, rows.size // n, n)


#: Elements of a part that numpy splits faster than a loop.
_LONG = 4096

_EXACT = 2**53  # the largest whole numbers that doubles tell apart


def _keys(rows: Array, descending: bool) -> tuple[Array, Array, bool]:
    """Doubles in the order of the elements (or the other way round), and their positions.

    And whether any of them is nan.
    """
    if rows.dtype == np.int64 and rows.size and max(rows.max(), -int(rows.min())) > _EXACT:
        rows = np.unique(rows, return_inverse=True)[1].reshape(rows.shape)
    keys = np.array(rows, np.float64, order="C")
    if descending:
        np.negative(keys, out=keys)
    has_nan = _make_safe(keys)
    index = np.empty(keys.shape, np.int32)
    index[...] = np.arange(keys.shape[1], dtype=np.int32)
    return keys, index, has_nan


def sort_rows(rows: Array, descending: bool = False) -> Array:
    """For each row of a matrix the positions of its elements in order, as the reference sorts.

    numpy sorts; the order of equal elements comes from going the reference's way, and so does
    all order where there is a nan, which is neither smaller nor larger than anything.
    """
    keys, index, has_nan = _keys(rows, descending)
    if has_nan:
        _run(b"sort", keys, index, *keys.shape)
        return index
    order = np.argsort(keys, axis=1).astype(np.int32)
    found = take_along(keys, order, 1)
    equal = np.zeros(keys.shape, np.int32)
    np.equal(found[:, 1:], found[:, :-1], out=equal[:, 1:])
    if equal.any():
        np.cumsum(equal, axis=1, dtype=np.int32, out=equal)
        if keys.shape[1] <= _LONG:
            last = keys.shape[1] - 1
            _run(b"order_equals", keys, index, equal, order, *keys.shape, 0, last)
        else:
            for row in range(len(keys)):
                _order_long(keys[row], index[row], equal[row], order[row])
    return order


def _order_long(keys: Array, index: Array, equal: Array, order: Array) -> None:
    """What the kernel order_equals does for one row, the first parts of it by numpy."""
    n = len(keys)
    parts = [(0, n - 1)]
    while parts:
        first, last = parts.pop()
        if equal[min(last + 1, n - 1)] == (equal[first - 1] if first else 0):
            continue  # neither holds nor touches equal elements
        if last - first < _LONG:
            _run(b"order_equals", keys, index, equal, order, 1, n, first, last)
            continue
        i, j = _partition(keys, index, first, last)
        order[j:i] = index[j:i]
        parts += [(first, j - 1), (i, last)]


def _swap(i: Any, j: Any, *arrays: Array) -> None:
    for a in arrays:
        a[i], a[j] = a[j], a[i].copy()


def _partition(keys: Array, index: Array, first: int, last: int) -> tuple[int, int]:
    """What the kernel's partition does, all its swaps at once.

    The walks from both ends stop at elements that are not smaller, or not larger, than the
    pivot. Where they have not met yet these are the places of the unchanged keys.
    """
    _swap((first + last) // 2, first + 1, keys, index)
    for low, high in ((first + 1, last), (first, last), (first + 1, first)):
        if keys[low] > keys[high]:
            _swap(low, high, keys, index)
    pivot = keys[first]
    ups = np.flatnonzero(keys[first + 2 : last + 1] >= pivot) + (first + 2)
    downs = np.flatnonzero(keys[first + 1 : last] <= pivot)[::-1] + (first + 1)
    most = min(len(ups), len(downs))
    count = int(np.count_nonzero(ups[:most] <= downs[:most]))
    left, right = ups[:count], downs[:count]
    _swap(left, right, keys, index)
    # Past the last swap a walk stops at the next of its places, or where the other one stopped.
    i, j = ups[count], downs[count]
    met = count > 0 and left[-1] == right[-1]
    others = count - 1 - met
    if others >= 0:
        i, j = min(i, right[others]), max(j, left[others])
    _swap(first, j, keys, index)
    return int(i), int(j)


def select_rows(rows: Array, k: int) -> Array:
    """For each row of a matrix its positions in an order with the k-th smallest (from 0) at k."""
    keys, index, _ = _keys(rows, False)
    _run(b"select", keys, index, *keys.shape, k)
    return index


def shuffle(values: Array, distances: Array, first: int) -> None:
    """Swap elements, one after the other from ``first`` on, each with one behind it.

    distances: how far, for as many as are swapped; both are of 32 bits.
    """
    _run(b"shuffle", values, distances, first, len(distances))


def draw_slots(cumulative: Array, uniform: Array, replace: bool) -> Array:
    """Positions in rows of cumulative distributions (which change) of uniform numbers."""
    _make_safe(cumulative)
    drawn = np.empty(uniform.shape, np.int32)
    _run(b"draw", cumulative, uniform, drawn, *cumulative.shape, uniform.shape[1], replace)
    return drawn


def pair_slots(shares: Array) -> Array:
    """Even out the shares of a distribution, in place; returns who fills each one up.

    shares: floats or doubles, 1 on average. Positions count from 0, which is also where no
    filling was needed.
    """
    _make_safe(shares)
    aliases = np.zeros(len(shares), np.int32)
    stacks = np.empty(2 * len(shares), np.int32)
    _run(b"pair", shares, aliases, stacks, len(shares), shares.itemsize)
    return aliases
