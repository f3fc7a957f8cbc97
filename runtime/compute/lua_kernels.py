"""Algorithms that go one element after the other, run by LuaJIT over numpy's memory.

The loops are in ``lua_kernels.lua``; operations call them with arrays and never see Lua.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.compute.bulk import take_along
from runtime.compute.lua_functions import call_lua
from runtime.core.addresses import address_of
from runtime.core.dtypes import EXACT, Array


def _run(name: bytes, *args: Any) -> None:
    call_lua(name, *[address_of(a) if isinstance(a, np.ndarray) else a for a in args])


def _make_safe(numbers: Array) -> bool:
    """Replace all nans by one that is safe in Lua (see lua/tensor/elements.lua).

    numbers: floats or doubles, changed in place. Returns whether there are any nans.
    """
    if not numbers.size or not np.isnan(np.min(numbers)):
        return False
    numbers[np.isnan(numbers)] = np.nan
    return True


def cumsum_rows(rows: Array, out: Array) -> None:
    """The running sums along the last dimension; both are contiguous arrays of doubles."""
    n = rows.shape[-1]
    _run(b"cumsum", rows, out, rows.size // n, n)


def _keys(rows: Array, descending: bool) -> tuple[Array, Array, bool]:
    """Doubles with the order of the elements (or the opposite order), for sorting.

    Returns them, the positions of each row's elements, and whether any of them is nan.
    """
    if rows.dtype == np.int64 and rows.size and max(int(rows.max()), -int(rows.min())) > EXACT:
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

    The reference's quicksort decides in which order equal elements come. So numpy sorts, and the
    quicksort's steps are followed only where elements are equal. Where there is a nan, which
    compares false with everything, they are followed for the whole row.
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
        _run(b"order_equals", keys, index, equal, order, *keys.shape)
    return order


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
    """The positions that uniform numbers have in rows of cumulative distributions.

    replace: whether a position may be drawn again; if not, cumulative is changed.
    """
    _make_safe(cumulative)
    drawn = np.empty(uniform.shape, np.int32)
    _run(b"draw", cumulative, uniform, drawn, *cumulative.shape, uniform.shape[1], replace)
    return drawn


def pair_slots(shares: Array) -> Array:
    """Prepare a distribution for drawing by the alias method.

    shares: floats or doubles, 1 on average; changed in place to the probability that a slot keeps
    its own position. Returns for each slot the position that it gives otherwise (from 0; 0 where it
    always keeps its own).
    """
    _make_safe(shares)
    aliases = np.zeros(len(shares), np.int32)
    stacks = np.empty(2 * len(shares), np.int32)
    _run(b"pair", shares, aliases, stacks, len(shares), shares.itemsize)
    return aliases
