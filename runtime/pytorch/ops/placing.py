"""Positions of a dimension, or of all elements, set or changed: index_add, index_copy, put.

PyTorch's documentation: torch.Tensor; torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, listed, wrap_dim
from th_shell.torch.base.warn import warn_once
from th_shell.torch.calls.schema import Number, TensorOrNumber, Tensors
from th_shell.torch.calls.table import op
from th_shell.torch.compute.indices import as_indices, masks_checked
from th_shell.torch.compute.promotion import number_as
from th_shell.torch.compute.sums import along
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.gathering import bad_index, check_bounds, check_take
from th_shell.torch.ops.indexing import fill_value, put, without_ones
from th_shell.torch.ops.scattering import (
    REDUCTIONS,
    changing,
    positions_of,
    reduce_into,
    write_back,
)
from th_shell.torch.tensors.layouts import copy_of
from th_shell.torch.tensors.tensor import Tensor, wrap


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


def _whole(
    input: Tensor, dim: int, index: Tensor, source: Tensor, error: type[Exception] = RuntimeError
) -> tuple[Array, Array, Array]:
    """The elements in one dimension, and for each of a source its position in them."""
    values = source.array
    shape = values.shape or (1,)
    places = index.array.reshape([-1 if at == dim else 1 for at in range(len(shape))])
    flat, positions = positions_of(input, dim, np.broadcast_to(places, shape), error)
    return flat, positions, values.reshape(-1)


def _check_added(input: Tensor, dim: int, index: Tensor, source: Tensor, name: str) -> None:
    ours, given, chosen = input.array, source.array, index.array
    if chosen.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype.scalar}"
        )
    if chosen.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {chosen.ndim} with type: "
            f"{index.dtype.scalar} and size: {listed(chosen.shape)}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): self ({input.dtype.scalar}) and source ({source.dtype.scalar}) must have "
            f"the same scalar type"
        )
    if given.ndim != ours.ndim or _without(given.shape, dim) != _without(ours.shape, dim):
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {listed(ours.shape)} source.shape = {listed(given.shape)}"
        )
    if not given.ndim and chosen.size != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    count = given.shape[dim] if given.ndim else 1
    if chosen.size != count:
        raise RuntimeError(
            f"{name}(): Number of indices ({chosen.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {dim}"
        )


@changing("index_add")
def index_add_(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> None:
    """Add alpha times a source's positions of a dimension to those that an index has."""
    dim = wrap_dim(dim, input.array.ndim)
    _check_added(input, dim, index, source, "index_add_")
    if not source.array.size:
        return
    if input.array.ndim < 2 and bad_index(index.array, input.array.size) is not None:
        raise IndexError("index out of range in self")
    flat, positions, values = _whole(input, dim, index, source)
    if alpha != 1:
        values = values * number_as(alpha, flat.dtype)
    np.add.at(flat, positions, values)
    write_back(input.array, flat)


@changing("index_reduce")
def index_reduce_(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> None:
    """Reduce the positions of a dimension that an index has with those of a source.

    reduce: 'prod', 'mean', 'amax' or 'amin'. include_self: with the tensor's own, too.
    """
    warn_once("index_reduce() is in beta and the API may change at any time.")
    dim = wrap_dim(dim, input.array.ndim)
    if reduce not in REDUCTIONS or reduce == "sum":
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    _check_added(input, dim, index, source, "index_reduce_")
    if not source.array.size:
        return
    flat, positions, values = _whole(input, dim, index, source, IndexError)
    reduce_into(flat, positions, values, reduce, include_self)
    write_back(input.array, flat)


@changing("index_copy")
def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Set the positions of a dimension that an index has to those of a source."""
    array, given = input.array, source.array
    dim = wrap_dim(dim, array.ndim)
    if index.array.ndim > 1:
        raise IndexError(
            f"index_copy_(): Index should have dimension 1 or 0 (got {index.array.ndim})"
        )
    if not given.ndim and index.array.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element "
            f"(got {index.array.size})"
        )
    if given.ndim != array.ndim and given.ndim and array.ndim:
        raise IndexError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({given.ndim}), destination dimensionality "
            f"({array.ndim})"
        )
    _check_copied(input, dim, index, source)
    _copy_chosen(array, dim, index.array.reshape(-1), given)


def _check_copied(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    array, given = input.array, source.array
    if index.dtype is not int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {index.dtype.scalar}"
        )
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype.scalar} and (source) {source.dtype.scalar}"
        )
    ours, theirs = _without(array.shape, dim), _without(given.shape, dim)
    if ours != theirs:
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, ours))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, theirs))} at dimension 0."
        )
    if given.ndim and index.array.size != given.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.array.size}) should be equal to "
            f"source.size(dim) ({given.shape[dim]})"
        )


def _copy_chosen(array: Array, dim: int, chosen: Array, values: Array) -> None:
    rows, axis = along(array, dim)
    wrong = bad_index(chosen, rows.shape[axis])
    if wrong is not None:
        raise IndexError(
            f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size "
            f"{rows.shape[axis]}"
        )
    rows[(slice(None),) * axis + (chosen,)] = values


@changing("index_fill", out=False)
def index_fill_(input: Tensor, dim: int, index: Tensor, value: TensorOrNumber) -> None:
    """Set the positions of a dimension that an index has to a number."""
    chosen = index.array
    if isinstance(value, Tensor):
        value = fill_value(value, "index_fill_")
    if index.dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    rows, axis = along(input.array, dim)
    require(chosen.ndim <= 1, "Index has to be a vector/scalar")
    element = fill_number(value, input.dtype)
    check_bounds(chosen, axis, rows.shape[axis], IndexError, negative=True)
    rows[(slice(None),) * axis + (chosen.reshape(-1),)] = element


@op()
def index_put_(input: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """Set the elements that tensors of indices, or masks, choose, or add to them."""
    require(indices, "index_put_(): at least one tensor of indices is needed")
    chosen = masks_checked([index.array for index in indices], input.array.shape)
    given = [index.array.dtype.kind for index in indices]
    if given == ["b"] and values.array.size == 1 and not accumulate:
        values = wrap(values.array.reshape(()).astype(input.array.dtype))
    put(input, as_indices(chosen), without_ones(values), accumulate)
    return input


@op()
def index_put(input: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with the elements set, or added to, that tensors of indices or masks choose."""
    return index_put_(wrap(copy_of(input, input.dtype)), indices, values, accumulate)


@changing("put", out=False)
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> None:
    """Set the elements at some positions among all, or add to them."""
    array = input.array
    if index.dtype is int64 and input.dtype is not source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.scalar} and source.dtype = {source.dtype.scalar}"
        )
    if index.dtype is int64 and index.array.size != source.array.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.array.size}, index.numel() = {index.array.size}"
        )
    if not array.size and index.array.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    check_take(index, array.size, "put_")
    flat = array.reshape(-1)
    positions, values = index.array.reshape(-1), source.array.reshape(-1)
    if accumulate:
        np.add.at(flat, positions, values)
    else:
        flat[positions] = values
    write_back(array, flat)
