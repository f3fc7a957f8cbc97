"""Elements at the positions of an index set, or changed, by others: scatter, scatter_reduce.

PyTorch's documentation: torch.Tensor; torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed, wrap_dim
from th_shell.torch.calls.schema import OUT, Number
from th_shell.torch.calls.table import op
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.gathering import check_bounds, check_gather, flat_positions
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


def _check_scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | None) -> None:
    check_gather(index, "scatter")
    if src is not None and src.dtype is not input.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    shape, chosen = input.array.shape, index.array.shape
    if 0 in chosen:
        return
    if max(len(shape), 1) != max(len(chosen), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    source = src.array.shape if src is not None else chosen
    if max(len(source), 1) != max(len(chosen), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    full, taken, available = (s or (1,) for s in (shape, chosen, source))
    beyond = any(n > m for at, (n, m) in enumerate(zip(taken, full, strict=True)) if at != dim)
    if beyond or any(n > m for n, m in zip(taken, available, strict=True)):
        than = "" if src is None else f" and to be no larger size than src {listed(source)}"
        raise RuntimeError(
            f"Expected index {listed(chosen)} to be no larger than self {listed(shape)} apart from "
            f"dimension {dim}{than}"
        )


def positions_of(
    input: Tensor, dim: int, index: Array, error: type[Exception] = RuntimeError
) -> tuple[Array, Array]:
    """Return a tensor's elements in one dimension, or a copy of them, and the positions in it."""
    array = input.array
    size = array.shape[dim] if array.ndim else 1
    check_bounds(index, dim, size, error)
    flat = array.reshape(-1)
    if index.ndim < 2 or array.ndim < 2:
        return flat, index.reshape(-1)
    return flat, flat_positions(index, array.shape, dim).reshape(-1)


def write_back(array: Array, flat: Array) -> None:
    if not array.flags.c_contiguous:  # then flat is a copy
        array[...] = flat.reshape(array.shape)


def _source_of(src: Tensor, index: Array) -> Array:
    """Return the elements of a source that an index has a position for."""
    if not src.array.ndim or not index.ndim:
        return src.array.reshape(-1)[: index.size]
    return src.array[tuple(map(slice, index.shape))].reshape(-1)


def _scatter(input: Tensor, dim: int, index: Tensor, src: Any, reduce: str | None) -> None:
    dim = wrap_dim(dim, input.array.ndim)
    is_tensor = isinstance(src, Tensor)
    require(reduce in (None, "add", "multiply"), "reduce argument must be either add or multiply.")
    _check_scatter(input, dim, index, src if is_tensor else None)
    if not index.array.size:
        return
    values = _source_of(src, index.array) if is_tensor else fill_number(src, input.dtype)
    flat, positions = positions_of(input, dim, index.array)
    if reduce is None:
        flat[positions] = values
    else:
        (np.add if reduce == "add" else np.multiply).at(flat, positions, values)
    write_back(input.array, flat)


@changing("scatter")
def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Set the elements at the positions of an index in a dimension to those of a source."""
    _scatter(input, dim, index, src, None)


@changing("scatter")
def scatter_reducing(input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> None:
    """Add a source's elements at the positions of an index, or multiply by them."""
    _scatter(input, dim, index, src, reduce)


@changing("scatter")
def scatter_value(input: Tensor, dim: int, index: Tensor, value: Number) -> None:
    """Set the elements at the positions of an index in a dimension to a number."""
    _scatter(input, dim, index, value, None)


@changing("scatter")
def scatter_value_reducing(
    input: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str
) -> None:
    """Add a number at the positions of an index, or multiply by it."""
    _scatter(input, dim, index, value, reduce)


@changing("scatter_add")
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Add a source's elements at the positions of an index in a dimension."""
    _scatter(input, dim, index, src, "add")


REDUCTIONS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _identity(kind: np.dtype[Any], reduce: str) -> Any:
    """Return the identity of a reduction: the number that changes no element it is reduced with."""
    if reduce in ("sum", "prod", "mean"):
        return kind.type(reduce == "prod")
    if kind.kind == "f":
        return kind.type(-np.inf if reduce == "amax" else np.inf)
    if kind.kind == "b":
        return np.bool_(reduce == "amin")
    limits = np.iinfo(kind)
    return kind.type(limits.min if reduce == "amax" else limits.max)


def reduce_into(
    flat: Array, positions: Array, values: Array, reduce: str, include_self: bool
) -> None:
    if not include_self:
        flat[positions] = _identity(flat.dtype, reduce)
    with np.errstate(all="ignore"):
        REDUCTIONS[reduce].at(flat, positions, values)
        if reduce != "mean":
            return
        counts = np.zeros(flat.shape, np.int64) + int(include_self)
        np.add.at(counts, positions, 1)
        counts = np.maximum(counts, 1).astype(flat.dtype)
        flat[...] = flat / counts if flat.dtype.kind == "f" else flat // counts


@changing("scatter_reduce")
def scatter_reduce_(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> None:
    """Reduce the elements at the positions of an index with those of a source.

    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'. include_self: with the tensor's own, too.
    """
    dim = wrap_dim(dim, input.array.ndim)
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    _check_scatter(input, dim, index, src)
    if not index.array.size:
        return
    flat, positions = positions_of(input, dim, index.array)
    reduce_into(flat, positions, _source_of(src, index.array), reduce, include_self)
    write_back(input.array, flat)


# -- copies in which a view has other elements
