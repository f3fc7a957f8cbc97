"""Manual, Math Functions: extrema, sorting and order statistics.

An operation along a dimension has two destinations: the values, and a LongTensor of their indices
in that dimension, from 1. Extrema, medians and the like leave the dimension with size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.calls.table import op
from th_shell.runtime.compute.bulk import blocks, take_along
from th_shell.runtime.compute.lua_kernels import select_rows, sort_rows
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Sizes, Tensor
from th_shell.runtime.ops._operands import store
from th_shell.runtime.ops._overlapping import check_apart, resized
from th_shell.runtime.ops.reduce import check_dim, find_extremum

_PAIR = "[*T*] [*LongTensor*] T"


# A finalizer of the program may resize a tensor whenever Lua runs, and loops in Lua do the work
# here: each operation asks for the tensor's array once.


def _store_pair(values: Tensor, indices: Tensor, elements: Array, at: Array, dim: int) -> None:
    """Set both destinations from the positions, from 0, of the values along the dimension."""
    check_apart(indices, at.shape, resized(values, at.shape))
    store(values, take_along(elements, at, dim))
    store(indices, at + 1)


# -- extrema


def _without(sizes: Sizes, dim: int) -> Sizes:
    return (*sizes[:dim], 1, *sizes[dim + 1 :])


def _locate_in_blocks(elements: Array, dim: int, locate: Any) -> Array:
    # Where elements along the dimension are not neighbours in memory, numpy's argmin and argmax
    # copy the tensor; blocks keep these copies small.
    positions = np.empty(_without(elements.shape, dim), np.int64)
    for at in blocks(elements.shape, keep=dim):
        locate(elements[at], axis=dim, keepdims=True, out=positions[at])
    return positions


def _add_extremum(name: str, reduce: Any, locate: Any) -> None:
    def over_all(t: Tensor) -> float:
        if not t.sizes:
            raise ArgError(1, "tensor must have one dimension")
        return find_extremum(reduce, t.array)

    def along(values: Tensor, indices: Tensor, t: Tensor, dim: int) -> None:
        check_dim(t, dim)
        sizes = _without(t.sizes, dim)
        check_apart(indices, sizes, resized(values, sizes), t)
        elements = t.array
        positions = _locate_in_blocks(elements, dim, locate)
        store(values, np.take_along_axis(elements, positions, dim))
        positions += 1
        store(indices, positions)

    over_all.__doc__ = f"The {name}imum of all elements; nan if one of them is nan."
    along.__doc__ = f"The {name}ima along one dimension, and their indices."
    form, fold = f"{_PAIR} index", f"{name}imum"
    op(name, "T", "T", total="t", fold=fold, in_double=False)(over_all)
    op(name, form, form, total="t", fold=fold, in_double=False, places=True)(along)


# np.min, np.argmin and the like call these from Python code, which takes longer than the work on
# a small tensor.
_add_extremum("min", np.minimum.reduce, np.ndarray.argmin)
_add_extremum("max", np.maximum.reduce, np.ndarray.argmax)


# -- sorting

_SORT = f"{_PAIR} [index=last] [boolean=false]"


@op("sort", _SORT, _SORT, small="order.sort")
def sort(values: Tensor, indices: Tensor, t: Tensor, dim: int | None, descending: bool) -> None:
    """The elements sorted along a dimension (by default the last), and their indices before."""
    dim = _dimension(t, dim, "invalid dimension {}", 2)
    elements = t.array
    at = _order(np.moveaxis(elements, dim, -1), descending)
    _store_pair(values, indices, elements, np.moveaxis(at, -1, dim), dim)


def _dimension(
    t: Tensor, dim: int | None, message: str = "dimension out of range", arg: int = 3
) -> int:
    """Return a dimension, by default the last. Raise ArgError, as `check_dim`, where it is none."""
    chosen = t.ndim - 1 if dim is None else dim
    check_dim(t, chosen, message, arg)
    return chosen


def _order(values: Array, descending: bool) -> Array:
    """The positions that sort the elements of the last dimension."""
    rows = values.reshape(-1, values.shape[-1])
    return sort_rows(rows, descending).reshape(values.shape)


# -- order statistics


def _rows(elements: Array, dim: int) -> Array:
    """An array as a matrix whose rows run along a dimension."""
    return np.moveaxis(elements, dim, -1).reshape(-1, elements.shape[dim])


def _store_chosen(
    values: Tensor, indices: Tensor, t: Tensor, elements: Array, chosen: Array, dim: int
) -> None:
    shape = np.moveaxis(elements, dim, -1).shape[:-1]
    at = chosen.astype(np.int64).reshape(*shape, chosen.shape[1])
    at = np.moveaxis(at, -1, dim)
    check_apart(indices, at.shape, t)
    _store_pair(values, indices, elements, at, dim)


@op("kthvalue", f"{_PAIR} long [index=last]", f"{_PAIR} long [index=last]", small="order.kthvalue")
def kthvalue(values: Tensor, indices: Tensor, t: Tensor, k: int, dim: int | None) -> None:
    """The k-th smallest elements along a dimension (by default the last), and their indices."""
    dim = _dimension(t, dim)
    if not 0 < k <= t.sizes[dim]:
        raise ArgError(2, "selected index out of range")
    elements = t.array
    chosen = select_rows(_rows(elements, dim), k - 1)[:, k - 1 : k]
    _store_chosen(values, indices, t, elements, chosen, dim)


@op("median", f"{_PAIR} [index=last]", f"{_PAIR} [index=last]", small="order.median")
def median(values: Tensor, indices: Tensor, t: Tensor, dim: int | None) -> None:
    """The medians along a dimension (by default the last), and their indices.

    Of an even number of elements, the median is the smaller one of the two in the middle.
    """
    dim = _dimension(t, dim)
    kthvalue(values, indices, t, (t.sizes[dim] - 1) // 2 + 1, dim)


@op("mode", f"{_PAIR} [index=last]", f"{_PAIR} [index=last]", small="order.mode")
def mode(values: Tensor, indices: Tensor, t: Tensor, dim: int | None) -> None:
    """The most frequent elements along a dimension (by default the last), and their indices.

    Of several that are equally frequent, it is the smallest.
    """
    dim = _dimension(t, dim)
    elements = t.array
    rows = _rows(elements, dim)
    order = _order(rows, False)
    sorted_rows = take_along(rows, order, 1)
    places = np.arange(rows.shape[1], dtype=np.int32)
    differs = sorted_rows[:, 1:] != sorted_rows[:, :-1]  # from the element before
    begins = np.zeros(rows.shape, np.int32)  # where the run of equal elements begins
    np.multiply(differs, places[1:], out=begins[:, 1:])
    np.maximum.accumulate(begins, axis=1, out=begins)
    lengths = np.subtract(places, begins, out=begins)  # of the run so far
    longest = np.argmax(lengths, axis=1)  # its last element; of equally long ones the first
    chosen = np.take_along_axis(order, longest[:, None], 1)
    _store_chosen(values, indices, t, elements, chosen, dim)


_TOPK = f"{_PAIR} [long=1] [index=last] [boolean=false] [boolean=false]"


@op("topk", _TOPK, _TOPK, small="order.topk")
def topk(
    values: Tensor,
    indices: Tensor,
    t: Tensor,
    k: int,
    dim: int | None,
    largest: bool,
    in_order: bool,
) -> None:
    """The k smallest (or largest) elements along a dimension, and their indices.

    in_order: sorted, the largest first if these are wanted. Torch7: otherwise they have the order
    in which quickselect leaves them; and it sorts only the first k - 1 of the smallest, since
    quickselect has put the last one in its place.
    """
    dim = _dimension(t, dim, "dim not in range")
    n = t.sizes[dim]
    if not 0 < k <= n:
        raise ArgError(2, "k not in range for dimension")
    elements = t.array
    rows = _rows(elements, dim)
    start = n - k if largest else 0
    if largest and start == 0:
        at = np.broadcast_to(np.arange(n, dtype=np.int32), rows.shape)
    else:
        at = select_rows(rows, start - 1 if largest else k - 1)
    chosen = at[:, start : start + k].copy()
    if in_order:
        count = k if largest else k - 1
        if count > 0:
            part = take_along(rows, chosen[:, :count], 1)
            order = sort_rows(part, descending=largest)
            chosen[:, :count] = take_along(chosen[:, :count], order, 1)
    _store_chosen(values, indices, t, elements, chosen, dim)
