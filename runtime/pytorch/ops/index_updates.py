"""Positions of a dimension, or of all elements, set or changed: index_add, index_copy, put.

PyTorch's documentation: torch.Tensor; torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, listed, wrap_dim
from th_shell.torch.calls.schema import Number, TensorOrNumber
from th_shell.torch.compute.promotion import number_as
from th_shell.torch.compute.reductions import along
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.gathering import bad_index, check_bounds
from th_shell.torch.ops.indexing import fill_value
from th_shell.torch.ops.scattering import (
    changing,
    positions_of,
    write_back,
)
from th_shell.torch.tensors.tensor import Tensor


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


def _whole(
    input: Tensor, dim: int, index: Tensor, source: Tensor, error: type[Exception] = RuntimeError
) -> tuple[Array, Array, Array]:
    """Return the elements in one dimension, and for each of a source its position in them."""
    values = source.array
    shape = values.shape or (1,)
    places = index.array.reshape([-1 if at == dim else 1 for at in range(len(shape))])
    flat, positions = positions_of(input, dim, np.broadcast_to(places, shape), error)
    return flat, positions, values.reshape(-1)


def _check_source(input: Tensor, dim: int, index: Tensor, source: Tensor, name: str) -> None:
    """Raise an error where a source has not one slice of the tensor's sizes for each index."""
    ours, values, chosen = input.array, source.array, index.array
    if chosen.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype.scalar}"
        )
    if chosen.ndim > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {chosen.ndim})")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): self ({input.dtype.scalar}) and source ({source.dtype.scalar}) must have "
            f"the same scalar type"
        )
    if values.ndim != ours.ndim or _without(values.shape, dim) != _without(ours.shape, dim):
        raise RuntimeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {listed(ours.shape)} source.shape = {listed(values.shape)}"
        )
    count = values.shape[dim] if values.ndim else 1
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
    _check_source(input, dim, index, source, "index_add_")
    if not source.array.size:
        return
    if input.array.ndim < 2 and bad_index(index.array, input.array.size) is not None:
        raise IndexError("index out of range in self")
    flat, positions, values = _whole(input, dim, index, source)
    if alpha != 1:
        values = values * number_as(alpha, flat.dtype)
    np.add.at(flat, positions, values)
    write_back(input.array, flat)


@changing("index_copy")
def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Set the positions of a dimension that an index has to those of a source."""
    rows, axis = along(input.array, dim)
    _check_source(input, axis, index, source, "index_copy_")
    positions = index.array.reshape(-1)
    beyond = bad_index(positions, rows.shape[axis])
    if beyond is not None:
        raise IndexError(
            f"index_copy_(): index {beyond} is out of bounds for dimension {axis} with size "
            f"{rows.shape[axis]}"
        )
    rows[(slice(None),) * axis + (positions,)] = source.array


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
