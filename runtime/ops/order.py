"""Manual, Math Functions: extrema, sorting and order statistics, with indices from 1.

The reduced dimension stays, with size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.calls.table import op
from runtime.compute.bulk import take_along
from runtime.compute.lua_kernels import select_rows, sort_rows
from runtime.compute.pieces import blocks
from runtime.compute.thread_pool import LARGE
from runtime.core.dtypes import Array
from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.ops._operands import store
from runtime.ops.reduce import check_dim

_PAIR = "[*T*] [*LongTensor*] T"


# A finalizer of the program may resize a tensor whenever Lua runs, and loops in Lua do the work
# here: each operation asks for the tensor's array once.


def _store_pair(values: Tensor, indices: Tensor, elements: Array, at: Array, dim: int) -> None:
    found = take_along(elements, at, dim)
    store(values, found)
    store(indices, at + 1)


# -- extrema


def _in_blocks(t: Tensor, dim: int, pick: Any, locate: Any) -> tuple[Array, Array]:
    # Where the elements do not lie along the dimension, numpy's search copies them.
    shape = (*t.sizes[:dim], 1, *t.sizes[dim + 1 :])
    found, places = np.empty(shape, t.array.dtype), np.empty(shape, np.int64)
    for at in blocks(t.sizes, keep=dim):
        pick(t.array[at], axis=dim, keepdims=True, out=found[at])
        locate(t.array[at], axis=dim, keepdims=True, out=places[at])
    return found, places


def _add_extremum(name: str, pick: Any, locate: Any, sign: str) -> None:
    def over_all(t: Tensor) -> float:
        if not t.sizes:
            raise ArgError(1, "tensor must have one dimension")
        return pick(t.array, axis=None).item()  # type: ignore[no-any-return]

    def along(values: Tensor, indices: Tensor, t: Tensor, dim: int) -> None:
        check_dim(t, dim)
        if t.nelement < LARGE:
            found = pick(t.array, axis=dim, keepdims=True)
            places = locate(t.array, axis=dim, keepdims=True)
        else:
            found, places = _in_blocks(t, dim, pick, locate)
        store(values, found)
        places += 1
        store(indices, places)

    over_all.__doc__ = f"The {name}imum of all elements; nan where there is one."
    along.__doc__ = f"The {name}ima along one dimension and where they are."
    op(name, "T", "T")(over_all)
    op(name, f"{_PAIR} index", f"{_PAIR} index", pick=f"x {sign} best")(along)


# Neither goes through numpy's functions of Python, which small tensors would notice.
_add_extremum("min", np.minimum.reduce, np.ndarray.argmin, "<")
_add_extremum("max", np.maximum.reduce, np.ndarray.argmax, ">")


# -- sorting

_SORT = f"{_PAIR} [index=last] [boolean=false]"


@op("sort", _SORT, _SORT)
def sort(values: Tensor, indices: Tensor, t: Tensor, dim: int | None, descending: bool) -> None:
    """The elements in order along a dimension (by default the last), and where they were."""
    dim = _last(t, dim)
    check_dim(t, dim, "invalid dimension {}")
    elements = t.array
    at = _order(np.moveaxis(elements, dim, -1), descending).astype(np.int64)
    _store_pair(values, indices, elements, np.moveaxis(at, -1, dim), dim)


def _last(t: Tensor, dim: int | None) -> int:
    return t.ndim - 1 if dim is None else dim


def _order(values: Array, descending: bool) -> Array:
    """The positions of the elements of the last dimension in order."""
    rows = values.reshape(-1, values.shape[-1])
    return sort_rows(rows, descending).reshape(values.shape)


# -- order statistics


def _rows(elements: Array, dim: int) -> Array:
    """An array as a matrix whose rows run along a dimension."""
    return np.moveaxis(elements, dim, -1).reshape(-1, elements.shape[dim])


def _store_chosen(
    values: Tensor, indices: Tensor, elements: Array, chosen: Array, dim: int
) -> None:
    shape = np.moveaxis(elements, dim, -1).shape[:-1]
    at = chosen.astype(np.int64).reshape(*shape, chosen.shape[1])
    _store_pair(values, indices, elements, np.moveaxis(at, -1, dim), dim)


@op("kthvalue", f"{_PAIR} long [index=last]", f"{_PAIR} long [index=last]")
def kthvalue(values: Tensor, indices: Tensor, t: Tensor, k: int, dim: int | None) -> None:
    """The k-th smallest elements along a dimension (by default the last)."""
    dim = _last(t, dim)
    check_dim(t, dim, "dimension out of range", 3)
    if not 0 < k <= t.sizes[dim]:
        raise ArgError(2, "selected index out of range")
    elements = t.array
    chosen = select_rows(_rows(elements, dim), k - 1)[:, k - 1 : k]
    _store_chosen(values, indices, elements, chosen, dim)


@op("median", f"{_PAIR} [index=last]", f"{_PAIR} [index=last]")
def median(values: Tensor, indices: Tensor, t: Tensor, dim: int | None) -> None:
    """The medians along a dimension (by default the last); the lower of two in the middle."""
    dim = _last(t, dim)
    check_dim(t, dim, "dimension out of range", 3)
    kthvalue(values, indices, t, (t.sizes[dim] - 1) // 2 + 1, dim)


@op("mode", f"{_PAIR} [index=last]", f"{_PAIR} [index=last]")
def mode(values: Tensor, indices: Tensor, t: Tensor, dim: int | None) -> None:
    """The most frequent elements along a dimension (by default the last), the least of several."""
    dim = _last(t, dim)
    check_dim(t, dim, "dimension out of range", 3)
    elements = t.array
    rows = _rows(elements, dim)
    order = _order(rows, False)
    sorted_rows = take_along(rows, order, 1)
    chosen = np.empty((len(rows), 1), np.int64)
    for row, (numbers, positions) in enumerate(zip(sorted_rows, order, strict=True)):
        ends = np.flatnonzero(np.append(numbers[1:] != numbers[:-1], True))
        counts = np.diff(ends, prepend=-1)
        chosen[row] = positions[ends[np.argmax(counts)]]
    _store_chosen(values, indices, elements, chosen, dim)


_TOPK = f"{_PAIR} [long=1] [index=last] [boolean=false] [boolean=false]"


@op("topk", _TOPK, _TOPK)
def topk(
    values: Tensor,
    indices: Tensor,
    t: Tensor,
    k: int,
    dim: int | None,
    largest: bool,
    in_order: bool,
) -> None:
    """The k smallest (or largest) elements along a dimension, perhaps in order.

    Torch7: without order they come as quickselect leaves them; in order, the last of the
    smallest is in its place already.
    """
    dim = _last(t, dim)
    check_dim(t, dim, "dim not in range", 3)
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
    _store_chosen(values, indices, elements, chosen, dim)
