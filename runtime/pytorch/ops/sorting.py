"""Sorting, and what follows from an order: the largest elements, medians, modes.

PyTorch's documentation: torch, Comparison Ops and Reduction Ops. A nan is larger than all numbers.
Equal elements always stay in their order, which PyTorch leaves open but for `stable=True`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import bool_
from th_shell.torch.base.require import require
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, NUMBERS, check_types
from th_shell.torch.compute.reductions import FEW, along, check_not_empty, pair, take_at, tidy
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast

# -- the order of elements


def stable_order(array: Array, axis: int, descending: bool) -> Array:
    """Return positions along an axis in the order of the elements; equal ones keep theirs."""
    if not descending:
        return array.argsort(axis, "stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    order: Array = (array.shape[axis] - 1) - array[back].argsort(axis, "stable")[back]
    return order


def _like(values: Array, input: Tensor) -> Array:
    """Return a result with the order of dimensions in memory that a tensor has."""
    result = empty_like_array(input, values.dtype)
    result[...] = values.reshape(result.shape)
    return result


def _sorted(input: Tensor, dim: int, descending: bool) -> tuple[Array, Array]:
    """Return the sorted elements along a dimension, and where they were."""
    array, axis = along(input.array, dim)
    order = stable_order(array, axis, descending)
    return _like(take_at(array, order, axis), input), _like(order, input)


@op(
    f"sort(Tensor input, *, bool? stable, int dim = -1, bool descending = False, {OUTS})",
    f"sort(Tensor input, int dim = -1, bool descending = False, *, {OUTS})",
)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Any:
    """Return the elements sorted along a dimension, and their positions before."""
    return pair("sort", *_sorted(input, dim, descending))


@op("argsort(Tensor input, int dim = -1, bool descending = False)")
@op(f"argsort(Tensor input, *, bool stable, int dim = -1, bool descending = False, {OUT})")
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """Return the positions of the elements in their order along a dimension."""
    array, axis = along(input.array, dim)
    return wrap(_like(stable_order(array, axis, descending), input))


# -- the largest elements


@op(more=OUTS)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the k largest or smallest elements along a dimension in order, and their positions."""
    array, axis = along(input.array, dim)
    require(0 <= k <= array.shape[axis], "selected index k out of range")
    if input.dtype is bool_:
        raise NotImplementedError("topk does not support bool dtypes on CPU")
    check_types("topk_cpu", ALL, array.dtype)
    if not input.array.ndim:
        return pair("topk", input.array.copy(), np.zeros((), np.int64))
    at = _top(array, axis, k, largest)
    return pair("topk", tidy(take_at(array, at, axis)), tidy(at))


def _top(array: Array, axis: int, k: int, largest: bool) -> Array:
    """Return the positions along an axis of the k largest or smallest elements, in their order."""
    n = array.shape[axis]
    if largest and 0 < k <= _PASSES and array.size >= FEW and array.dtype.kind == "f":
        if (places := _largest_in_turn(np.array(array.swapaxes(axis, -1)), k)) is not None:
            return places.swapaxes(axis, -1)
    if array.size >= FEW and 0 < k < n // 2:
        rows = array.swapaxes(axis, -1)
        at = n - k if largest else k - 1
        last = np.partition(rows, at, -1)[..., at : at + 1]
        chosen = ~(rows < last) if largest else rows <= last  # a nan is the largest
        if (np.count_nonzero(chosen, axis=-1) == k).all():  # else some are equal
            places = np.nonzero(chosen)[-1].reshape(*rows.shape[:-1], k)
            inside = stable_order(np.take_along_axis(rows, places, -1), rows.ndim - 1, largest)
            return np.take_along_axis(places, inside, -1).swapaxes(axis, -1)
    order: Array = stable_order(array, axis, largest)[(slice(None),) * axis + (slice(k),)]
    return order


#: The most elements that are found in turn: a pass for each takes less time than a partition.
_PASSES = 8


def _largest_in_turn(rows: Array, k: int) -> Array | None:
    """Return the positions of the k largest elements of each row, which are lost.

    None where one of them is the least number there is, since those that are found become that.
    """
    places = np.empty((*rows.shape[:-1], k), np.int64)
    for found in range(k):
        at = rows.argmax(-1, keepdims=True)
        if (np.take_along_axis(rows, at, -1) == -np.inf).any():
            return None
        np.put_along_axis(rows, at, -np.inf, -1)
        places[..., found : found + 1] = at
    return places


# -- the k-th smallest elements


@op(more=OUTS)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest elements along a dimension, and their positions."""
    array, axis = along(input.array, dim)
    check_not_empty("kthvalue", array, (axis,), IndexError)
    if not 0 < k <= array.shape[axis]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    check_types("kthvalue_cpu", NUMBERS, array.dtype)
    return _chosen("kthvalue", input, array, axis, _kth(array, axis, k), keepdim)


def _kth(array: Array, axis: int, k: int) -> Array:
    """Return the positions along an axis, which is kept, of the k-th smallest elements."""
    rows = array.swapaxes(axis, -1)
    same = rows == np.partition(rows, k - 1, -1)[..., k - 1 : k]
    at: Array = same.argmax(-1, keepdims=True)
    if (np.count_nonzero(same, axis=-1) != 1).any():  # some are equal, or nan
        at = rows.argsort(-1, "stable")[..., k - 1 : k]
    return at.swapaxes(axis, -1)


def _chosen(name: str, input: Tensor, array: Array, axis: int, at: Array, keepdim: bool) -> Any:
    """Return the elements at positions along an axis as an operation's result."""
    values = take_at(array, at, axis)
    if not keepdim or not input.array.ndim:
        values, at = values.squeeze(axis), at.squeeze(axis)
    return pair(name, tidy(values), tidy(at))


# -- medians


def _register_median(name: str, ignores_nan: bool) -> None:
    @op(f"{name}(Tensor input)")
    def of_all(input: Tensor) -> Tensor:
        array = input.array.reshape(-1)
        check_types("median_cpu", NUMBERS, array.dtype)
        if not array.size:
            return wrap(cast(np.asarray(np.nan), array.dtype))  # or what C makes of nan
        return wrap(array[_middle(array, 0, ignores_nan)].reshape(()))

    @op(name=name, more=OUTS)
    def along_dim(input: Tensor, dim: int, keepdim: bool = False) -> Any:
        array, axis = along(input.array, dim)
        check_not_empty("median", array, (axis,), IndexError)
        check_types("median_out", NUMBERS, array.dtype)
        at = _middle(array, axis, ignores_nan)
        return _chosen(name, input, array, axis, at, keepdim)

    for function in (of_all, along_dim):
        function.__doc__ = (
            "Return the medians; of an even number of elements the smaller of the middle two."
        )


def _middle(array: Array, axis: int, ignores_nan: bool) -> Array:
    """Return the positions along an axis, which is kept, of the medians."""
    n = array.shape[axis]
    if array.dtype.kind == "f" and (unknown := np.isnan(array)).any():
        count = np.count_nonzero(unknown, axis=axis, keepdims=True)
        if ignores_nan:
            at = np.maximum(n - count - 1, 0) // 2
            return take_at(stable_order(array, axis, False), at, axis)
        at = _kth(array, axis, (n + 1) // 2)
        return np.where(count > 0, unknown.argmax(axis, keepdims=True), at)
    return _kth(array, axis, (n + 1) // 2)


_register_median("median", False)
_register_median("nanmedian", True)


# -- modes


@op(more=OUTS)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the most frequent elements along a dimension, the smallest of several; and where."""
    array, axis = along(input.array, dim)
    check_not_empty("mode", array, (axis,), IndexError)
    check_types("mode_cpu", ALL, array.dtype)
    at = _most_frequent(array.swapaxes(axis, -1)).swapaxes(axis, -1)
    return _chosen("mode", input, array, axis, at, keepdim)


def _most_frequent(rows: Array) -> Array:
    """Return positions of the most frequent elements in the last dimension, which is kept."""
    n = rows.shape[-1]
    order = rows.argsort(-1, "stable")
    ordered = take_at(rows, order, rows.ndim - 1)
    places = np.arange(n)
    begins = np.zeros(rows.shape, np.int64)  # where the run of equal elements begins
    np.multiply(ordered[..., 1:] != ordered[..., :-1], places[1:], out=begins[..., 1:])
    np.maximum.accumulate(begins, axis=-1, out=begins)
    longest = (places - begins).argmax(-1, keepdims=True)  # the first that is so long
    return take_at(order, longest, rows.ndim - 1)
