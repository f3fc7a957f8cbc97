"""Sorting, and the largest elements. PyTorch's documentation: torch, Comparison Ops.

A nan is larger than all numbers. Equal elements always stay in their order, which PyTorch leaves
open but for `stable=True`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import bool_
from th_shell.torch.base.require import require
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, check_types
from th_shell.torch.compute.sums import FEW, along, pair, take_at, tidy
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap

# -- the order of elements


def stable_order(array: Array, axis: int, descending: bool) -> Array:
    """Positions along an axis in the order of the elements; equal ones stay in their order."""
    if not descending:
        return array.argsort(axis, "stable")
    back = (slice(None),) * axis + (slice(None, None, -1),)
    order: Array = (array.shape[axis] - 1) - array[back].argsort(axis, "stable")[back]
    return order


def _like(values: Array, input: Tensor) -> Array:
    """A result with the order of dimensions in memory that a tensor has."""
    array = input.array
    if values.flags.c_contiguous and array.flags.c_contiguous and 1 not in array.shape:
        return values.reshape(array.shape)
    found = empty_like_array(input, values.dtype)
    found[...] = values.reshape(array.shape)
    return found


def _sorted(input: Tensor, dim: int, descending: bool) -> tuple[Array, Array]:
    """The sorted elements along a dimension, and where they were."""
    array, axis = along(input.array, dim)
    order = stable_order(array, axis, descending)
    values = take_at(array, order, axis)
    return _like(values, input), _like(order, input)


@op(
    f"sort(Tensor input, *, bool? stable, int dim = -1, bool descending = False, {OUTS})",
    f"sort(Tensor input, int dim = -1, bool descending = False, *, {OUTS})",
)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Any:
    """The elements sorted along a dimension, and their positions before."""
    return pair("sort", *_sorted(input, dim, descending))


@op("argsort(Tensor input, int dim = -1, bool descending = False)")
@op(f"argsort(Tensor input, *, bool stable, int dim = -1, bool descending = False, {OUT})")
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """The positions of the elements in their order along a dimension."""
    array, axis = along(input.array, dim)
    return wrap(_like(stable_order(array, axis, descending), input))


@op(more=OUT)
def msort(input: Tensor) -> Tensor:
    """The elements sorted along the first dimension."""
    return wrap(_sorted(input, 0, False)[0])


# -- the largest, and the k-th smallest


@op(more=OUTS)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest elements along a dimension, or the smallest, in order, and their positions."""
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
    """The positions along an axis of the k largest or smallest elements, in their order."""
    n = array.shape[axis]
    if array.size >= FEW and 0 < k < n // 2:
        rows = array.swapaxes(axis, -1)
        at = n - k if largest else k - 1
        last = np.partition(rows, at, -1)[..., at : at + 1]
        chosen = ~(rows < last) if largest else rows <= last  # a nan is the largest
        if (np.count_nonzero(chosen, axis=-1) == k).all():  # else some are equal
            places = np.nonzero(chosen)[-1].reshape(*rows.shape[:-1], k)
            inside = stable_order(np.take_along_axis(rows, places, -1), rows.ndim - 1, largest)
            return np.take_along_axis(places, inside, -1).swapaxes(axis, -1)
    return stable_order(array, axis, largest).take(np.arange(k), axis)
