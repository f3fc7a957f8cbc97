"""Sets or changes the elements at given indices by those of another tensor: scatter, index_add.

PyTorch's documentation: torch.Tensor; torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, listed
from th_shell.torch.calls.schema import OUT, Number, TensorOrNumber
from th_shell.torch.calls.table import op
from th_shell.torch.compute.promotion import number_as
from th_shell.torch.compute.reductions import along, other_indices
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.gathering import check_bounds, check_gather
from th_shell.torch.ops.indexing import fill_value
from th_shell.torch.tensors.layouts import check_apart, copy_of
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import check_single

Change = TypeVar("Change", bound=Callable[..., None])


def changing(name: str, out: bool = True) -> Callable[[Change], Change]:
    """Register an operation that changes its tensor: as a method in place, and of a copy.

    out: the function has `out=`, and its result is contiguous.
    """

    def register(change: Change) -> Change:
        @wraps(change)
        def copy(input: Tensor, *args: Any, **named: Any) -> Tensor:
            duplicate = wrap(input.array.copy("C") if out else copy_of(input, input.dtype))
            change(duplicate, *args, **named)
            return duplicate

        @wraps(change)
        def in_place(input: Tensor, *args: Any, **named: Any) -> Tensor:
            check_single(input.array)
            check_apart(input, (*args, *named.values()), takes_same=False)
            change(input, *args, **named)
            return input

        op(name=f"{name}_", function=False)(in_place)
        op(name=name, more=OUT if out else "")(copy)
        return change

    return register


def _check_scatter(target: Shape, dim: int, index: Shape, source: Shape) -> None:
    """Raise RuntimeError where an index is larger than the tensor or the source."""
    if not len(target) == len(index) == len(source):
        which = "src" if len(target) == len(index) else "self"
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {which} tensor"
        )
    room = [
        m if at == dim else min(n, m) for at, (n, m) in enumerate(zip(target, source, strict=True))
    ]
    if any(n > m for n, m in zip(index, room, strict=True)):
        raise RuntimeError(
            f"Expected index {listed(index)} to be no larger than self {listed(target)} apart from "
            f"dimension {dim} and to be no larger size than src {listed(source)}"
        )


def _scatter(input: Tensor, dim: int, index: Tensor, src: Any, adds: bool = False) -> None:
    check_gather(index, "scatter")
    array, axis = along(input.array, dim)
    at = np.atleast_1d(index.array)
    if isinstance(src, Tensor):
        same = "scatter(): Expected self.dtype to be equal to src.dtype"
        require(src.dtype is input.dtype, same)
        values = np.atleast_1d(src.array)
    else:
        values = np.broadcast_to(fill_number(src, input.dtype), at.shape)
    if not at.size:
        return
    _check_scatter(array.shape, axis, at.shape, values.shape)
    check_bounds(at, axis, array.shape[axis], RuntimeError)
    others = other_indices(at.shape, axis)
    places = (*others[:axis], at, *others[axis:])
    values = values[tuple(map(slice, at.shape))]
    if adds:
        np.add.at(array, places, values)
    else:
        array[places] = values


@changing("scatter")
def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Set the elements at the positions of an index in a dimension to those of a source."""
    _scatter(input, dim, index, src)


@changing("scatter")
def scatter_value(input: Tensor, dim: int, index: Tensor, value: Number) -> None:
    """Set the elements at the positions of an index in a dimension to a number."""
    _scatter(input, dim, index, value)


@changing("scatter_add")
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Add a source's elements at the positions of an index in a dimension."""
    _scatter(input, dim, index, src, adds=True)


# -- whole positions of a dimension


def _chosen(
    input: Tensor, dim: int, index: Tensor, source: Tensor, name: str
) -> tuple[Array, tuple[Any, ...]]:
    """Return a tensor's elements, and the numpy index of the positions that an index has.

    Raises an error where a source has not one slice of the tensor's sizes for each of them.
    """
    rows, axis = along(input.array, dim)
    positions, values = index.array.reshape(-1), source.array
    shape = list(input.array.shape)
    shape[axis : axis + 1] = [positions.size] if shape else []
    if index.array.dtype.kind != "i" or index.array.ndim > 1 or source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): Expected a vector of integers for index, and a source of the type "
            f"{input.dtype.scalar}, but got {index.dtype.scalar} and {source.dtype.scalar}"
        )
    if list(values.shape) != shape:
        raise RuntimeError(
            f"{name}(): Expected a source of the sizes {listed(shape)}, for the number of indices "
            f"is {positions.size}, but got {listed(values.shape)}"
        )
    check_bounds(positions, axis, rows.shape[axis], IndexError)
    return rows, (slice(None),) * axis + (positions,)


@changing("index_add")
def index_add_(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> None:
    """Add alpha times a source's positions of a dimension to those that an index has."""
    rows, chosen = _chosen(input, dim, index, source, "index_add_")
    np.add.at(rows, chosen, source.array * number_as(alpha, rows.dtype))


@changing("index_copy")
def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Set the positions of a dimension that an index has to those of a source."""
    rows, chosen = _chosen(input, dim, index, source, "index_copy_")
    rows[chosen] = source.array


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
