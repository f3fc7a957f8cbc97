"""Sorting, and the largest elements. PyTorch's documentation: torch, Comparison Ops.

A nan is larger than all numbers. Which of equal elements come first, `arrangement.py` tells; what
is sorted with `stable=True` keeps them in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import bool_
from runtime.pytorch.base.require import require
from runtime.pytorch.calls.schema import OUT, OUTS
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.arrangement import SHORT, sort_order, top_order
from runtime.pytorch.compute.elementwise import ALL, check_types
from runtime.pytorch.compute.sums import FEW, along, pair, take_at, tidy
from runtime.pytorch.tensors.layouts import empty_like_array
from runtime.pytorch.tensors.tensor import Tensor, wrap

#: PyTorch: from so many whole numbers in a row on they are sorted by their digits.
_RADIX = 1 << 15
#: Beyond so many elements equal ones stay in their order. PyTorch's own order of so many, which it
#: does not promise, takes several times as long as to sort them.
_MOST = 1 << 17


# -- the order of elements


def sort_keys(array: Array, descending: bool) -> Array:
    """Whole numbers with the order of the elements, or the opposite one; equal for equal ones."""
    if array.dtype.kind == "f":
        bits = np.dtype(f"i{array.itemsize}")
        keys = np.where(np.isnan(array), np.nan, array + array.dtype.type(0))
        keys = keys.astype(array.dtype, copy=False).view(bits)
        keys = np.where(keys < 0, keys ^ np.iinfo(bits).max, keys)
    else:
        keys = array.view(np.uint8) if array.dtype == np.bool_ else array
    return ~keys if descending else keys


def stable_order(array: Array, axis: int, descending: bool) -> Array:
    """Positions along an axis in the order of the elements; equal ones stay in their order."""
    if not descending:
        return array.argsort(axis, "stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    order: Array = (array.shape[axis] - 1) - array[back].argsort(axis, "stable")[back]
    return order


def order_along(array: Array, axis: int, descending: bool, stable: bool = False) -> Array:
    """Positions along an axis in the order in which PyTorch sorts the elements."""
    n = array.shape[axis]
    if stable or n <= SHORT or _is_stable(array, descending):
        return stable_order(array, axis, descending)
    rows = array.swapaxes(axis, -1)
    if descending:
        keys = np.ascontiguousarray(sort_keys(rows, descending))
        order = keys.argsort(-1)
        equal = _neighbours_equal(take_at(keys, order, keys.ndim - 1))
    else:
        order = rows.argsort(-1)
        equal = _neighbours_equal(take_at(rows, order, rows.ndim - 1))
    if np.count_nonzero(equal):
        if array.size > _MOST:
            order = _keep_equals(order, equal)
        else:
            tied = np.asarray(equal.any(-1))
            order[tied] = sort_order(np.ascontiguousarray(sort_keys(rows[tied], descending)))
    return order.swapaxes(axis, -1)


def _is_stable(array: Array, descending: bool) -> bool:
    """Whether equal elements stay in their order although that is not asked for."""
    if array.dtype.kind not in "iu":
        return False
    is_radix_sorted = array.ndim == 1 and not descending and array.size >= _RADIX
    return is_radix_sorted or array.size > _MOST


def _keep_equals(order: Array, equal: Array) -> Array:
    """An order in which equal elements stay in theirs."""
    begins = np.ones(order.shape, np.bool_)
    begins[..., 1:] = ~equal
    tied = ~begins
    tied[..., :-1] |= equal
    flat = np.ascontiguousarray(order).reshape(-1)
    at = np.flatnonzero(tied)
    places = flat[at]
    flat[at] = places[np.lexsort((places, np.cumsum(begins)[at]))]
    return flat.reshape(order.shape)


def _like(values: Array, input: Tensor) -> Array:
    """A result with the order of dimensions in memory that a tensor has."""
    array = input.array
    if values.flags.c_contiguous and array.flags.c_contiguous and 1 not in array.shape:
        return values.reshape(array.shape)
    found = empty_like_array(input, values.dtype)
    found[...] = values.reshape(array.shape)
    return found


def _sorted(input: Tensor, dim: int, descending: bool, stable: bool) -> tuple[Array, Array]:
    """The sorted elements along a dimension, and where they were."""
    array, axis = along(input.array, dim)
    order = order_along(array, axis, descending, stable)
    values = take_at(array, order, axis)
    return _like(values, input), _like(order, input)


@op(
    f"sort(Tensor input, *, bool? stable, int dim = -1, bool descending = False, {OUTS})",
    f"sort(Tensor input, int dim = -1, bool descending = False, *, {OUTS})",
)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Any:
    """The elements sorted along a dimension, and their positions before."""
    return pair("sort", *_sorted(input, dim, descending, bool(stable)))


@op("argsort(Tensor input, int dim = -1, bool descending = False)")
@op(f"argsort(Tensor input, *, bool stable, int dim = -1, bool descending = False, {OUT})")
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """The positions of the elements in their order along a dimension."""
    array, axis = along(input.array, dim)
    return wrap(_like(order_along(array, axis, descending, stable), input))


@op(more=OUT)
def msort(input: Tensor) -> Tensor:
    """The elements sorted along the first dimension."""
    return wrap(_sorted(input, 0, False, False)[0])


# -- the largest, and the k-th smallest


@op(more=OUTS)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest elements along a dimension, or the smallest, and their positions."""
    array, axis = along(input.array, dim)
    require(0 <= k <= array.shape[axis], "selected index k out of range")
    if input.dtype is bool_:
        raise NotImplementedError("topk does not support bool dtypes on CPU")
    check_types("topk_cpu", ALL, array.dtype)
    if not input.array.ndim:
        return pair("topk", input.array.copy(), np.zeros((), np.int64))
    at = _top(array, axis, k, largest, sorted)
    return pair("topk", tidy(take_at(array, at, axis)), tidy(at))


def _top(array: Array, axis: int, k: int, largest: bool, in_order: bool) -> Array:
    """The positions along an axis of the k largest or smallest elements."""
    n = array.shape[axis]
    if k == 0 or n <= 3 or not array.size:
        return stable_order(array, axis, largest).take(np.arange(k), axis)
    rows = array.swapaxes(axis, -1)
    if k < n // 2 and array.size >= FEW:
        order, tied = _few_of_many(rows, k, largest)
    else:
        order = stable_order(rows, rows.ndim - 1, largest)[..., : k + 1]
        equal = _neighbours_equal(take_at(rows, order, rows.ndim - 1))
        order = np.ascontiguousarray(order[..., :k])
        if in_order and not np.count_nonzero(equal):
            return order.swapaxes(axis, -1)
        tied = np.asarray(equal.any(-1))
    if not in_order:
        tied = np.ones_like(tied)
    if tied.any():
        order[tied] = top_order(np.ascontiguousarray(sort_keys(rows[tied], largest)), k, in_order)
    return order.swapaxes(axis, -1)


def _neighbours_equal(rows: Array) -> Array:
    """Whether elements of sorted rows equal the one before them, as nans do here."""
    behind, before = rows[..., 1:], rows[..., :-1]
    same: Array = behind == before
    if rows.dtype.kind == "f" and _ends_with_nan(rows):
        same |= np.isnan(behind) & np.isnan(before)
    return same


def _ends_with_nan(rows: Array) -> bool:
    """Whether there are nans in sorted rows: at their ends."""
    if rows.ndim == 1:
        first, last = rows.item(0), rows.item(-1)
        return bool(first != first or last != last)
    ends = rows[..., :: max(rows.shape[-1] - 1, 1)]
    return bool(np.count_nonzero(ends != ends))


def _few_of_many(rows: Array, k: int, largest: bool) -> tuple[Array, Array]:
    """The positions of the k largest elements of rows, and the rows in which equal ones matter."""
    n = rows.shape[-1]
    at = n - k if largest else k - 1
    last = np.partition(rows, at, -1)[..., at : at + 1]
    chosen = rows >= last if largest else rows <= last
    tied = np.asarray(np.count_nonzero(chosen, axis=-1) != k)
    if rows.dtype.kind == "f" and largest:
        tied = np.asarray(tied | np.isnan(rows.max(-1)))
    order = np.zeros((*rows.shape[:-1], k), np.int64)
    if not tied.all():
        places = np.nonzero(chosen[~tied])[-1].reshape(-1, k)
        found = np.take_along_axis(rows[~tied], places, -1)
        inside = stable_order(found, 1, largest)
        order[~tied] = np.take_along_axis(places, inside, -1)
        ordered = np.take_along_axis(found, inside, -1)
        tied[~tied] = _neighbours_equal(ordered).any(-1)
    return order, tied
