"""Sorting, the largest elements, the k-th smallest, medians and modes.

PyTorch's documentation: torch, Comparison Ops and Reduction Ops. A nan is larger than all numbers.
Which of equal elements come first, `arrangement.py` tells; medians and what is sorted with
`stable=True` keep them in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from runtime.core.dtypes import Array
from runtime.pytorch.arrangement import SHORT, kth_position, nth_position, sort_order, top_order
from runtime.pytorch.dtypes import bool_, int64
from runtime.pytorch.reducing import (
    OUT,
    OUTS,
    along,
    check_count,
    check_not_empty,
    check_out,
    check_outs,
    give,
    give_pair,
    take_at,
    tidy,
    want_kernel,
)
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap
from runtime.pytorch.writing import cast

__all__ = ["order_along", "sort_keys"]

_BOOL_AND_BAREBONES = "?HIL"
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


def _stable_order(array: Array, axis: int, descending: bool) -> Array:
    """Positions along an axis in the order of the elements; equal ones stay in their order."""
    if not descending:
        return array.argsort(axis, "stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    order: Array = (array.shape[axis] - 1) - array[back].argsort(axis, "stable")[back]
    return order


def order_along(array: Array, axis: int, descending: bool, stable: bool = False) -> Array:
    """Positions along an axis in the order in which PyTorch sorts the elements."""
    n = array.shape[axis]
    if stable or n <= SHORT or not array.size:
        return _stable_order(array, axis, descending)
    keys = np.ascontiguousarray(sort_keys(array.swapaxes(axis, -1), descending))
    order = keys.argsort(-1)
    found = np.take_along_axis(keys, order, -1)
    equal = found[..., 1:] == found[..., :-1]
    if equal.any():
        if array.size > _MOST:
            order = keys.argsort(-1, "stable")
        else:
            tied = equal.any(-1)
            order[tied] = sort_order(keys[tied])
    return order.swapaxes(axis, -1)


def _like(values: Array, array: Array) -> Array:
    """A result with the order of dimensions in memory that an array has."""
    values = values.reshape(array.shape)
    if array.ndim < 2 or not array.size:
        return tidy(values)
    like = np.empty_like(array)
    steps = zip(array.shape, array.strides, like.strides, strict=True)
    if any(n > 1 and step != dense for n, step, dense in steps):
        found = np.empty_like(array, values.dtype)
    else:  # the same strides even where the size is 1
        scale = values.itemsize / array.itemsize
        strides = tuple([int(step * scale) for step in array.strides])
        found = as_strided(np.empty(values.size, values.dtype), array.shape, strides)
    found[...] = values
    return found


def _sorted(
    input: Tensor, dim: int, descending: bool, stable: bool, out: Any = None
) -> tuple[Array, Array]:
    """The sorted elements along a dimension, and where they were."""
    array, axis = along(input.array, dim)
    order = order_along(array, axis, descending, stable)
    values = take_at(array, order, axis)
    return _like(values, input.array), _like(order, input.array)


@op(
    "sort(Tensor input, *, bool? stable, int dim = -1, bool descending = False, "
    "tuple of Tensors out = None)",
    "sort(Tensor input, int dim = -1, bool descending = False, *, tuple of Tensors out = None)",
)
def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = False,
    out: Any = None,
) -> Any:
    """The elements sorted along a dimension, and their positions before."""
    if out is not None:
        check_outs(out, input.dtype, int64)
    return give_pair("sort", *_sorted(input, dim, descending, bool(stable)), out)


@op("argsort(Tensor input, int dim = -1, bool descending = False)")
@op(f"argsort(Tensor input, *, bool stable, int dim = -1, bool descending = False, {OUT})")
def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The positions of the elements in their order along a dimension."""
    check_out(out, int64)
    array, axis = along(input.array, dim)
    return give(_like(order_along(array, axis, descending, stable), input.array), out)


@op(f"msort(Tensor input, *, {OUT})")
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements sorted along the first dimension."""
    check_out(out, input.dtype)
    return give(_sorted(input, 0, False, False)[0], out)


# -- the largest, and the k-th smallest


@op(
    "topk(Tensor input, int k, int dim = -1, bool largest = True, bool sorted = True, "
    "*, tuple of Tensors out = None)"
)
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
) -> Any:
    """The k largest elements along a dimension, or the smallest, and their positions."""
    array, axis = along(input.array, dim)
    if not 0 <= k <= array.shape[axis]:
        raise RuntimeError("selected index k out of range")
    if out is not None:
        check_outs(out, input.dtype, int64)
    if input.dtype is bool_:
        raise NotImplementedError("topk does not support bool dtypes on CPU")
    want_kernel("topk_cpu", array)
    if not input.array.ndim:
        return give_pair("topk", input.array.copy(), np.zeros((), np.int64), out)
    at = _top(array, axis, k, largest, sorted)
    return give_pair("topk", tidy(take_at(array, at, axis)), tidy(at), out)


def _top(array: Array, axis: int, k: int, largest: bool, in_order: bool) -> Array:
    """The positions along an axis of the k largest or smallest elements."""
    n = array.shape[axis]
    if k == 0 or n <= 3 or not array.size:
        return _first(_stable_order(array, axis, largest), axis, k)
    keys = np.ascontiguousarray(sort_keys(array.swapaxes(axis, -1), largest))
    few = min(k + 1, n)
    if n > 1024 and few < n:
        chosen = keys.argpartition(k, -1)[..., :few]
        inside = np.take_along_axis(keys, chosen, -1)
        order = np.take_along_axis(chosen, inside.argsort(-1), -1)
    else:
        order = keys.argsort(-1, "stable")[..., :few]
    found = np.take_along_axis(keys, order, -1)
    tied = (found[..., 1:] == found[..., :-1]).any(-1)
    order = np.ascontiguousarray(order[..., :k])
    if not in_order:
        tied = np.ones_like(tied)
    if tied.any():
        order[tied] = top_order(keys[tied], k, in_order)
    return order.swapaxes(axis, -1)


def _first(at: Array, axis: int, count: int) -> Array:
    found: Array = at[(slice(None),) * axis + (slice(count),)]
    return found


@op(f"kthvalue(Tensor input, int k, int dim = -1, bool keepdim = False, *, {OUTS})")
def kthvalue(
    input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None
) -> Any:
    """The k-th smallest elements along a dimension, and their positions."""
    array, axis = along(input.array, dim)
    if not array.shape[axis]:
        check_not_empty("kthvalue", array, (axis,), IndexError)
    if not 0 < k <= array.shape[axis]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if out is not None:
        check_count(out, 2)
        if out[0].dtype is not input.dtype:
            raise RuntimeError("output values must be of same type as input")
        if out[1].dtype is not int64:
            raise RuntimeError("output indices must be of scalar type Long")
    want_kernel("kthvalue_cpu", array, _BOOL_AND_BAREBONES)
    return _chosen("kthvalue", input, array, axis, _kth(array, axis, k), keepdim, out)


def _kth(array: Array, axis: int, k: int) -> Array:
    """The positions along an axis, which is kept, of the k-th smallest elements."""
    keys = np.ascontiguousarray(sort_keys(array.swapaxes(axis, -1), False))
    at = keys.argpartition(k - 1, -1)[..., k - 1 : k]
    found = np.take_along_axis(keys, at, -1)
    tied = np.count_nonzero(keys == found, -1) > 1
    if tied.any():
        at[tied] = kth_position(keys[tied], k)[:, None]
    return at.swapaxes(axis, -1)


def _chosen(
    name: str, input: Tensor, array: Array, axis: int, at: Array, keepdim: bool, out: Any
) -> Any:
    """The elements at positions along an axis as an operation's result."""
    values = take_at(array, at, axis)
    if not keepdim or not input.array.ndim:
        values, at = values.squeeze(axis), at.squeeze(axis)
    return give_pair(name, tidy(values), tidy(at), out)


# -- medians


def _register_median(name: str, ignores_nan: bool) -> None:
    @op(f"{name}(Tensor input)")
    def of_all(input: Tensor) -> Tensor:
        array = input.array.reshape(-1)
        want_kernel("median_cpu", array, _BOOL_AND_BAREBONES)
        if not array.size:
            return wrap(_of_none(array.dtype))
        if array.dtype.kind == "f" and ignores_nan:
            array = array[~np.isnan(array)] if np.isnan(array).any() else array
            if not array.size:
                return wrap(_of_none(input.array.dtype))
        elif array.dtype.kind == "f" and np.isnan(array).any():
            return wrap(_of_none(array.dtype))
        middle = (array.size - 1) // 2
        return wrap(np.partition(array, middle)[middle])

    @op(f"{name}(Tensor input, int dim, bool keepdim = False, *, {OUTS})")
    def along_dim(input: Tensor, dim: int, keepdim: bool = False, *, out: Any = None) -> Any:
        array, axis = along(input.array, dim)
        if not array.shape[axis]:
            check_not_empty("median", array, (axis,), IndexError)
        if out is not None:
            _check_median_outs(out, input)
        want_kernel("median_out", array, _BOOL_AND_BAREBONES)
        at = _middle(array, axis, ignores_nan)
        return _chosen(name, input, array, axis, at, keepdim, out)

    for function in (of_all, along_dim):
        function.__doc__ = "The medians; of an even number of elements the smaller in the middle."


def _of_none(kind: np.dtype[Any]) -> Array:
    """The median of no element: nan, or what C makes of it."""
    return cast(np.asarray(np.nan), kind)


def _middle(array: Array, axis: int, ignores_nan: bool) -> Array:
    """The positions along an axis, which is kept, of the medians."""
    n = array.shape[axis]
    order = _stable_order(array, axis, False)
    if array.dtype.kind == "f":
        unknown = np.isnan(array)
        if unknown.any():
            count = np.count_nonzero(unknown, axis=axis, keepdims=True)
            if ignores_nan:
                at = take_at(order, np.maximum(n - count - 1, 0) // 2, axis)
                return np.where(count < n, at, nth_position(np.zeros((1, n), np.int64), 1))
            middle = take_at(order, np.full_like(count, (n - 1) // 2), axis)
            return np.where(count > 0, unknown.argmax(axis, keepdims=True), middle)
    before = (slice(None),) * axis
    found: Array = order[(*before, slice((n - 1) // 2, (n - 1) // 2 + 1))]
    return found


def _check_median_outs(out: tuple[Tensor, ...], input: Tensor) -> None:
    check_count(out, 2)
    values, indices = out
    checking = "(while checking arguments for median)"
    if indices.dtype is not int64:
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"torch.{indices.dtype.scalar}Tensor instead {checking}"
        )
    if values.dtype is not input.dtype:
        raise RuntimeError(
            f"Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; "
            f"but type torch.{values.dtype.scalar}Tensor does not equal "
            f"torch.{input.dtype.scalar}Tensor {checking}"
        )


_register_median("median", False)
_register_median("nanmedian", True)


# -- modes


@op(f"mode(Tensor input, int dim = -1, bool keepdim = False, *, {OUTS})")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent elements along a dimension, the smallest of several, and a position."""
    array, axis = along(input.array, dim)
    if not array.shape[axis]:
        check_not_empty("mode", array, (axis,), IndexError)
    if out is not None:
        check_count(out, 2)
        for target, kind, what in zip(
            out, (input.dtype, int64), ("values", "indices"), strict=True
        ):
            if target.dtype is not kind:
                raise RuntimeError(
                    f"expected scalar type '{kind.scalar}' but got '{target.dtype.scalar}' for "
                    f"{what} output"
                )
    want_kernel("mode_cpu", array)
    at = _most_frequent(array.swapaxes(axis, -1)).swapaxes(axis, -1)
    return _chosen("mode", input, array, axis, at, keepdim, out)


def _most_frequent(rows: Array) -> Array:
    """The positions in the last dimension, which is kept: the last of a run of equal elements."""
    n = rows.shape[-1]
    order = order_along(rows, rows.ndim - 1, False)
    if rows.dtype.kind == "f":
        unknown = np.isnan(rows).any(-1)
        if n <= SHORT and unknown.any():
            order[unknown] = [_insertion_order(row) for row in rows[unknown].tolist()]
    found = take_at(rows, order, rows.ndim - 1)
    places = np.arange(n)
    begins = np.zeros(rows.shape, np.int64)  # where the run of equal elements begins
    np.multiply(found[..., 1:] != found[..., :-1], places[1:], out=begins[..., 1:])
    np.maximum.accumulate(begins, axis=-1, out=begins)
    longest = (places - begins).argmax(-1, keepdims=True)  # the first that is so long
    return take_at(order, longest, rows.ndim - 1)


def _insertion_order(row: list[float]) -> list[int]:
    """PyTorch: how a few elements are sorted among which are nans, which are below none."""
    order: list[int] = []
    for at, value in enumerate(row):
        place = len(order)
        if order and value < row[order[0]]:
            place = 0
        else:
            while place and value < row[order[place - 1]]:
                place -= 1
        order.insert(place, at)
    return order
