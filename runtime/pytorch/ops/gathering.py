"""Copies of chosen elements: index_select, take, gather, masked_select, where, nonzero.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from th_shell.runtime.compute.bulk import choose
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import bool_, int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, broadcast, listed, wrap_dim
from th_shell.torch.calls.schema import OUT, TensorOrNumber
from th_shell.torch.calls.table import op
from th_shell.torch.compute.promotion import array_as, result_type
from th_shell.torch.compute.reductions import take_at
from th_shell.torch.ops.slicing import unbind
from th_shell.torch.ops.views import expanded
from th_shell.torch.tensors.large_arrays import empty_tensor, threads
from th_shell.torch.tensors.layouts import canonical
from th_shell.torch.tensors.tensor import Tensor, wrap

_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
_largest = np.maximum.reduce


def bad_index(array: Array, size: int, negative: bool = False) -> int | None:
    """Return the first index that is not below a size; None where there is none.

    negative: indices may count from the end.
    """
    if not array.size:
        return None
    if not negative and array.dtype is _INT64 and array.flags.c_contiguous:
        if _largest(array.view(_UINT64), None) < size:  # negative numbers are large ones then
            return None
    elif array.min() >= (-size if negative else 0) and array.max() < size:
        return None
    wrong = (array < (-size if negative else 0)) | (array >= size)
    return int(array[wrong].flat[0])


def check_bounds(
    array: Array, dim: int, size: int, error: type[Exception], negative: bool = False
) -> None:
    """Raise an error for an index that is not below a dimension's size."""
    wrong = bad_index(array, size, negative)
    if wrong is not None:
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


# -- along a dimension


@op(more=OUT)
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return a copy of the positions of a dimension that an index lists."""
    array, chosen = input.array, index.array
    dim = wrap_dim(dim, array.ndim)
    require(chosen.ndim <= 1, "index_select(): Index is supposed to be a vector", error=IndexError)
    if chosen.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not array.ndim and chosen.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {chosen.size} value(s)"
        )
    if not array.ndim:
        return wrap(_selected(array.reshape(1), 0, chosen.reshape(-1)).reshape(()))
    return wrap(_selected(array, dim, chosen.reshape(-1)))


def _selected(array: Array, dim: int, chosen: Array) -> Array:
    size = array.shape[dim]
    if not size and chosen.size and array.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    wrong = bad_index(chosen, size)
    if wrong is not None and dim:
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={size}")
    if wrong is not None:
        raise IndexError("index out of range in self")
    if array.flags.c_contiguous:
        return array.take(chosen, dim)
    elements: Array = array[(slice(None),) * dim + (chosen,)]
    return np.ascontiguousarray(elements)


def check_gather(index: Tensor, name: str) -> None:
    """Raise RuntimeError where an index is no tensor of integers."""
    if index.array.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


@op(more=OUT)
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return for each element of an index the element at that position of a dimension."""
    array, chosen = input.array, index.array
    dim = wrap_dim(dim, array.ndim)
    check_gather(index, "gather")
    return wrap(_gathered(array, dim, chosen))


def _check_sizes(chosen: Shape, shape: Shape, dim: int) -> None:
    for at, (n, size) in enumerate(zip(chosen, shape, strict=False)):
        if n > size and at != dim:
            raise RuntimeError(
                f"Size does not match at dimension {at} expected index {listed(chosen)} to "
                f"be no larger than self {listed(shape)} apart from dimension {dim}"
            )


def _gathered(array: Array, dim: int, chosen: Array) -> Array:
    if not chosen.size:
        return np.empty(chosen.shape, array.dtype)
    if max(array.ndim, 1) != max(chosen.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if chosen.shape != array.shape:
        _check_sizes(chosen.shape, array.shape, dim)
    check_bounds(chosen, dim, array.shape[dim] if array.ndim else 1, RuntimeError)
    return take_at(np.atleast_1d(array), np.atleast_1d(chosen), dim).reshape(chosen.shape)


# -- among all elements


@op(more=OUT)
def take(input: Tensor, index: Tensor) -> Tensor:
    """Return the elements at some positions among all elements."""
    array = input.array
    if not array.size and index.array.size:
        raise IndexError("take(): tried to take from an empty tensor")
    kind = index.dtype
    require(kind is int64, "take(): Expected a long tensor for index, but got {.scalar}", kind)
    wrong = bad_index(index.array, array.size, negative=True)
    if wrong is not None:
        raise IndexError(
            f"out of range: tried to access index {wrong} on a tensor of {array.size} elements."
        )
    return wrap(array.take(index.array))


@op(more=OUT)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements for which a mask is true, in one dimension."""
    require(mask.array.dtype.kind == "b", "masked_select: expected BoolTensor for mask")
    array, chosen = input.array, mask.array
    if array.shape != chosen.shape:
        shape = broadcast(chosen.shape, array.shape)
        array, chosen = expanded(input, shape).array, expanded(mask, shape).array
    return wrap(array.reshape(-1).compress(chosen.reshape(-1)))


# -- by a condition


@op(name="where")
def where_true(condition: Tensor) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are true, a tensor for each dimension."""
    indices: tuple[Tensor, ...] = nonzero_tuple(condition, as_tuple=True)
    return indices


@op(
    f"where(Tensor condition, Tensor input, Tensor other, *, {OUT})",
    "where(Tensor condition, Number self, Tensor other)",
    "where(Tensor condition, Tensor input, Number other)",
    "where(Tensor condition, Number self, Number other)",
)
def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """Return the elements of input where a condition is true, else those of other; broadcast."""
    mask = condition.array
    if mask.dtype is not bool_.numpy:
        wrong = "where expected condition to be a boolean tensor, but got a tensor with dtype {}"
        require(mask.dtype.kind == "u", wrong, condition.dtype.scalar)
        mask = mask.astype(np.bool_)  # uint8 is the masks' type in old programs
    if input.__class__ is Tensor is other.__class__:
        x, y = input.array, other.array
        if x.dtype is y.dtype and mask.shape == x.shape == y.shape:
            if x.size < LARGE or not all(a.flags.c_contiguous for a in (mask, x, y)):
                return wrap(canonical(np.where(mask, x, y)))
            chosen = empty_tensor(x.shape, x.dtype)
            with threads.active():
                choose(mask, x, y, chosen.array)
            return chosen
    kind = result_type(input, other)
    a, b = array_as(input, kind), array_as(other, kind)
    if not mask.shape == np.shape(a) == np.shape(b):
        reduce(broadcast, [mask.shape, np.shape(a), np.shape(b)])
    return wrap(canonical(np.where(mask, a, b)))


@op(name="where", function=False)
def where_method(input: Tensor, condition: Tensor, other: TensorOrNumber) -> Tensor:
    """Return the tensor's elements where a condition is true, else those of another."""
    return where(condition, input, other)


def _nonzero(array: Array) -> Tensor:
    if not array.ndim:
        return wrap(np.empty((int(bool(array)), 0), np.int64))
    return wrap(np.array(array.nonzero()).T)


@op("argwhere(Tensor input)")
@op(more=OUT)
def nonzero(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not zero, one a row."""
    return _nonzero(input.array)


@op(name="nonzero")
def nonzero_tuple(input: Tensor, *, as_tuple: bool) -> Any:
    """Return the indices of nonzero elements. as_tuple: a tensor for each dimension."""
    if not as_tuple:
        return _nonzero(input.array)
    array = input.array
    return unbind(_nonzero(array if array.ndim else array.reshape(1)), 1)
