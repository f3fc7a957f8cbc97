"""Algorithms that go one element after the other, run by LuaJIT over numpy's memory.

The loops are in ``lua_kernels.lua``; operations call them with arrays and never see Lua.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.thread_pool import LARGE, call_lua
from th_shell.runtime.core.dtypes import EXACT, Array
from th_shell.runtime.core.memory import address_of

_LONG = 1 << 15  # elements of a row
_PARTS = 16  # of rows, so that threads have as much to do


def _run(name: bytes, *args: Any) -> None:
    call_lua(name, *[address_of(a) if isinstance(a, np.ndarray) else a for a in args])


def _make_safe(numbers: Array) -> None:
    """Replace all nans, in place, by one that is safe in Lua (see lua/tensor/elements.lua)."""
    if numbers.size and np.isnan(np.min(numbers)):
        numbers[np.isnan(numbers)] = np.nan


def cumsum_rows(rows: Array, out: Array) -> None:
    """The running sums along the last dimension; both are contiguous arrays of doubles."""
    n = rows.shape[-1]
    _run(b"cumsum", rows, out, rows.size // n, n)


def _keys(rows: Array, descending: bool) -> tuple[Array, Array]:
    """Doubles with the order of the elements (or the opposite order), for sorting.

    Returns them, and the positions of each row's elements.
    """
    if rows.dtype == np.int64 and rows.size and max(int(rows.max()), -int(rows.min())) > EXACT:
        rows = np.unique(rows, return_inverse=True)[1].reshape(rows.shape)
    keys = np.array(rows, np.float64, order="C")
    if descending:
        np.negative(keys, out=keys)
    _make_safe(keys)
    index = np.empty(keys.shape, np.int32)
    index[...] = np.arange(keys.shape[1], dtype=np.int32)
    return keys, index


def sort_rows(rows: Array, descending: bool = False) -> Array:
    """For each row of a matrix the positions of its elements in order, as the reference sorts.

    The reference's quicksort decides in which order equal elements come, which long rows mostly
    have. So its steps are followed, in parts into which the first ones divide a row. Short rows
    without equal elements numpy sorts more quickly. Long rows that are in the opposite order are
    turned round: they take the quicksort the square of their length.
    """
    (count, n), large = rows.shape, rows.size >= LARGE
    keys, index = _keys(rows, descending)
    arrays: dict[str, Any] = {"keys": keys, "index": index}
    starts = np.arange(count) * float(n)
    parts = np.stack([starts, starts + n], 1)
    if n < _LONG:
        parts = parts[_sort_distinct(keys, index)]
    else:
        is_opposite = (keys[:, 1:] < keys[:, :-1]).all(1)
        index[is_opposite] = np.arange(n)[::-1]
        parts = parts[~is_opposite]
    while large and len(parts) < _PARTS and len(parts):
        halves = np.empty((2 * len(parts), 2))
        thread_pool.run("divide", len(parts), **arrays, parts=parts, halves=halves)
        parts = halves
    piece = -(-len(parts) // _PARTS)
    thread_pool.run("sort", len(parts), at_a_time=piece, large=large, **arrays, parts=parts, n=n)
    return index


def _sort_distinct(keys: Array, index: Array) -> Array:
    """Set the index of rows to the order of their keys, where all are distinct and none is nan.

    Returns for each row whether it is to be sorted in another way.
    """
    again = np.empty(len(keys), bool)

    def sort(at: slice) -> None:
        order = np.argsort(keys[at], axis=1)
        sorted_keys = np.take_along_axis(keys[at], order, 1)
        again[at] = (sorted_keys[:, 1:] == sorted_keys[:, :-1]).any(1) | np.isnan(
            sorted_keys[:, -1]
        )  # nans are last
        np.copyto(index[at], order, casting="same_kind", where=~again[at, None])

    thread_pool.share(sort, len(keys), large=LARGE // keys.shape[1] + 1)
    return again


def select_rows(rows: Array, k: int) -> Array:
    """For each row of a matrix its positions in an order with the k-th smallest (from 0) at k."""
    keys, index = _keys(rows, False)
    large, n = rows.size >= LARGE, rows.shape[1]
    thread_pool.run("select", len(rows), large=large, keys=keys, index=index, n=n, k=k)
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
