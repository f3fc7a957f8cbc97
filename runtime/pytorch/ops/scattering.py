"""Chosen elements set, or changed, by others: masked_fill, scatter, index_add, put.

Each is a method in place, and a function that changes a copy.
PyTorch's documentation: torch.Tensor; torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.dtypes import int64
from runtime.pytorch.indices import as_indices, masks_checked
from runtime.pytorch.layouts import copy_of
from runtime.pytorch.ops.creation import fill_number
from runtime.pytorch.ops.gathering import bad_index, check_gather, check_take, flat_positions
from runtime.pytorch.ops.indexing import fill_value, fits, put, without_ones
from runtime.pytorch.ops.views import expanded
from runtime.pytorch.promotion import number_as
from runtime.pytorch.shapes import Shape, broadcast, listed, wrap_dim
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap
from runtime.pytorch.warn import warn
from runtime.pytorch.writing import check_single, check_target

__all__: list[str] = []

Change = TypeVar("Change", bound=Callable[..., None])


def _changing(*schemas: str, out: bool = True, function: bool = True) -> Callable[[Change], Change]:
    """Register an operation that changes its tensor: as a method in place, and of a copy.

    out: the function has `out=`, and its result is contiguous. function: there is a function.
    """

    def register(change: Change) -> Change:
        def copy(input: Tensor, *args: Any, **named: Any) -> Tensor:
            found = wrap(input.array.copy("C") if out else copy_of(input, input.dtype))
            change(found, *args, **named)
            return found

        def in_place(input: Tensor, *args: Any, **named: Any) -> Tensor:
            check_single(input.array)
            change(input, *args, **named)
            return input

        copy.__doc__ = in_place.__doc__ = inspect.getdoc(change)
        for schema in schemas:
            name, _, rest = schema.partition("(")
            op(f"{name}_({rest}", function=False)(in_place)
            if function:
                op(f"{schema[:-1]}{_with_out(schema)})" if out else schema)(copy)
        return change

    return register


def _with_out(schema: str) -> str:
    return ", Tensor out = None" if "*" in schema else ", *, Tensor out = None"


# -- masks


def _check_mask(mask: Tensor, name: str) -> None:
    if mask.array.dtype.kind != "b":
        raise RuntimeError(
            f"{name} only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.scalar if name == 'masked_scatter_' else mask.dtype.real}"
        )


def _fill_masked(input: Tensor, mask: Tensor, value: Any) -> None:
    array = input.array
    if isinstance(value, Tensor):
        value = fill_value(value, "masked_fill_")
    element = value if fits(value, array) else fill_number(value, input.dtype)
    _check_mask(mask, "masked_fill_")
    if mask.array.shape != array.shape:
        check_target(array, broadcast(array.shape, mask.array.shape))
    if mask.array.shape == array.shape and array.flags.c_contiguous:
        np.putmask(array, mask.array, element)
    else:
        np.copyto(array, element, where=mask.array)


@op(
    "masked_fill_(Tensor input, Tensor mask, Tensor value)",
    "masked_fill_(Tensor input, Tensor mask, Number value)",
    function=False,
)
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Set the elements for which a mask is true."""
    _fill_masked(input, mask, value)
    return input


@op(
    "masked_fill(Tensor input, Tensor mask, Tensor value)",
    "masked_fill(Tensor input, Tensor mask, Number value)",
)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with the elements set for which a mask is true; both are broadcast."""
    array = input.array
    if mask.array.shape != array.shape:
        input = expanded(input, broadcast(mask.array.shape, array.shape))
    found = wrap(input.array.copy("C"))
    _fill_masked(found, mask, value)
    return found


@_changing("masked_scatter(Tensor input, Tensor mask, Tensor source)", out=False, function=False)
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> None:
    """Set the elements for which a mask is true, one after the other, to those of a source."""
    array, values = input.array, source.array
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got"
            f"{input.dtype.scalar} and {source.dtype.scalar}"
        )
    _check_mask(mask, "masked_scatter_")
    chosen = expanded(mask, array.shape).array
    count = int(np.count_nonzero(chosen))
    if count > values.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    array[chosen] = values.reshape(-1)[:count]


@op("masked_scatter(Tensor input, Tensor mask, Tensor source)")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with elements set for which a mask is true, one after the other; broadcast."""
    shape = broadcast(mask.array.shape, input.array.shape)
    found = wrap(expanded(input, shape).array.copy("C"))
    masked_scatter_(found, mask, source)
    return found


# -- at the positions of an index: scatter


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
    full, taken, given = (s or (1,) for s in (shape, chosen, source))
    beyond = any(n > m for at, (n, m) in enumerate(zip(taken, full, strict=True)) if at != dim)
    if beyond or any(n > m for n, m in zip(taken, given, strict=True)):
        than = "" if src is None else f" and to be no larger size than src {listed(source)}"
        raise RuntimeError(
            f"Expected index {listed(chosen)} to be no larger than self {listed(shape)} apart from "
            f"dimension {dim}{than}"
        )


def _positions(
    input: Tensor, dim: int, index: Array, error: type[Exception] = RuntimeError
) -> tuple[Array, Array]:
    """A tensor's elements in one dimension, or a copy of them, and the positions in it."""
    array = input.array
    size = array.shape[dim] if array.ndim else 1
    wrong = bad_index(index, size)
    if wrong is not None:
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    flat = array.reshape(-1)
    if index.ndim < 2 or array.ndim < 2:
        return flat, index.reshape(-1)
    return flat, flat_positions(index, array.shape, dim).reshape(-1)


def _write_back(array: Array, flat: Array) -> None:
    if not array.flags.c_contiguous:  # then flat is a copy
        array[...] = flat.reshape(array.shape)


def _source_of(src: Tensor, index: Array) -> Array:
    """The elements of a source that an index has a position for."""
    if not src.array.ndim or not index.ndim:
        return src.array.reshape(-1)
    return src.array[tuple(map(slice, index.shape))].reshape(-1)


def _scatter(input: Tensor, dim: int, index: Tensor, src: Any, reduce: str | None) -> None:
    dim = wrap_dim(dim, input.array.ndim)
    is_tensor = isinstance(src, Tensor)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    _check_scatter(input, dim, index, src if is_tensor else None)
    if not index.array.size:
        return
    values = _source_of(src, index.array) if is_tensor else fill_number(src, input.dtype)
    flat, positions = _positions(input, dim, index.array)
    if reduce is None:
        flat[positions] = values
    else:
        (np.add if reduce == "add" else np.multiply).at(flat, positions, values)
    _write_back(input.array, flat)


@_changing("scatter(Tensor input, int dim, Tensor index, Tensor src)")
def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Set the elements at the positions of an index in a dimension to those of a source."""
    _scatter(input, dim, index, src, None)


@_changing("scatter(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)")
def scatter_reducing(input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> None:
    """Add a source's elements at the positions of an index, or multiply by them."""
    _scatter(input, dim, index, src, reduce)


@_changing("scatter(Tensor input, int dim, Tensor index, Number value)")
def scatter_value(input: Tensor, dim: int, index: Tensor, value: Any) -> None:
    """Set the elements at the positions of an index in a dimension to a number."""
    _scatter(input, dim, index, value, None)


@_changing("scatter(Tensor input, int dim, Tensor index, Number value, *, str reduce)")
def scatter_value_reducing(
    input: Tensor, dim: int, index: Tensor, value: Any, *, reduce: str
) -> None:
    """Add a number at the positions of an index, or multiply by it."""
    _scatter(input, dim, index, value, reduce)


@_changing("scatter_add(Tensor input, int dim, Tensor index, Tensor src)")
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """Add a source's elements at the positions of an index in a dimension."""
    _scatter(input, dim, index, src, "add")


_REDUCTIONS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _identity(kind: np.dtype[Any], reduce: str) -> Any:
    """What changes no element that it is reduced with."""
    if reduce in ("sum", "prod", "mean"):
        return kind.type(reduce == "prod")
    if kind.kind == "f":
        return kind.type(-np.inf if reduce == "amax" else np.inf)
    if kind.kind == "b":
        return np.bool_(reduce == "amin")
    limits = np.iinfo(kind)
    return kind.type(limits.min if reduce == "amax" else limits.max)


def _reduce_into(
    flat: Array, positions: Array, values: Array, reduce: str, include_self: bool
) -> None:
    if not include_self:
        flat[positions] = _identity(flat.dtype, reduce)
    with np.errstate(all="ignore"):
        _REDUCTIONS[reduce].at(flat, positions, values)
        if reduce != "mean":
            return
        counts = np.zeros(flat.shape, np.int64) + int(include_self)
        np.add.at(counts, positions, 1)
        counts = np.maximum(counts, 1).astype(flat.dtype)
        flat[...] = flat / counts if flat.dtype.kind == "f" else flat // counts


@_changing(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self = True)"
)
def scatter_reduce_(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> None:
    """Reduce the elements at the positions of an index with those of a source.

    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'. include_self: with the tensor's own, too.
    """
    dim = wrap_dim(dim, input.array.ndim)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    _check_scatter(input, dim, index, src)
    if not index.array.size:
        return
    flat, positions = _positions(input, dim, index.array)
    _reduce_into(flat, positions, _source_of(src, index.array), reduce, include_self)
    _write_back(input.array, flat)


# -- at positions of a whole dimension: index_add, index_copy, index_fill


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


def _whole(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    error: type[Exception] = RuntimeError,
) -> tuple[Array, Array, Array]:
    """The elements in one dimension, and for each of a source its position in them."""
    values = source.array
    shape = values.shape or (1,)
    places = index.array.reshape([-1 if at == dim else 1 for at in range(len(shape))])
    flat, positions = _positions(input, dim, np.broadcast_to(places, shape), error)
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


@_changing("index_add(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha = 1)")
def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> None:
    """Add alpha times a source's positions of a dimension to those that an index has."""
    dim = wrap_dim(dim, input.array.ndim)
    _check_added(input, dim, index, source, "index_add_")
    if not source.array.size:
        return
    if _add_rows(input.array, dim, index.array, source.array, alpha):
        return
    if input.array.ndim < 2 and bad_index(index.array, input.array.size) is not None:
        raise IndexError("index out of range in self")
    flat, positions, values = _whole(input, dim, index, source)
    if alpha != 1:
        values = values * number_as(alpha, flat.dtype)
    np.add.at(flat, positions, values)
    _write_back(input.array, flat)


def _add_rows(array: Array, dim: int, chosen: Array, values: Array, alpha: Any) -> bool:
    """Add where each position is chosen once at most, and has many elements; whether it is so."""
    if not chosen.ndim or values.size < 16 * chosen.size or chosen.size > array.shape[dim]:
        return False
    if bad_index(chosen, array.shape[dim]) is not None:
        return False
    if np.bincount(chosen).max(initial=0) > 1:
        return False
    if alpha != 1:
        values = values * number_as(alpha, array.dtype)
    array[(slice(None),) * dim + (chosen,)] += values
    return True


@lru_cache(maxsize=1)
def _warn_of_beta() -> None:
    """Warn, once in a process."""
    warn("index_reduce() is in beta and the API may change at any time.")


@_changing(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self = True)"
)
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
    _warn_of_beta()
    dim = wrap_dim(dim, input.array.ndim)
    if reduce not in _REDUCTIONS or reduce == "sum":
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    _check_added(input, dim, index, source, "index_reduce_")
    if not source.array.size:
        return
    flat, positions, values = _whole(input, dim, index, source, IndexError)
    _reduce_into(flat, positions, values, reduce, include_self)
    _write_back(input.array, flat)


@_changing("index_copy(Tensor input, int dim, Tensor index, Tensor source)")
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
    size = array.shape[dim] if array.ndim else 1
    wrong = bad_index(chosen, size)
    if wrong is not None:
        raise IndexError(
            f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {size}"
        )
    if array.ndim:
        array[(slice(None),) * dim + (chosen,)] = values
    else:
        array[...] = values.reshape(())


@_changing(
    "index_fill(Tensor input, int dim, Tensor index, Tensor value)",
    "index_fill(Tensor input, int dim, Tensor index, Number value)",
    out=False,
)
def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> None:
    """Set the positions of a dimension that an index has to a number."""
    array, chosen = input.array, index.array
    if isinstance(value, Tensor):
        value = fill_value(value, "index_fill_")
    if index.dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    dim = wrap_dim(dim, array.ndim)
    if chosen.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    element = fill_number(value, input.dtype)
    size = array.shape[dim] if array.ndim else 1
    wrong = bad_index(chosen, size, negative=True)
    if wrong is not None:
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    if array.ndim:
        array[(slice(None),) * dim + (chosen.reshape(-1),)] = element
    elif chosen.size:
        array[...] = element


@op("index_put_(Tensor input, tuple of Tensors indices, Tensor values, bool accumulate = False)")
def index_put_(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Set the elements that tensors of indices, or masks, choose, or add to them."""
    chosen = masks_checked([index.array for index in indices], input.array.shape)
    given = [index.array.dtype.kind for index in indices]
    if given == ["b"] and values.array.size == 1 and not accumulate:
        values = wrap(values.array.reshape(()).astype(input.array.dtype))
    put(input, as_indices(chosen), without_ones(values), accumulate)
    return input


@op("index_put(Tensor input, tuple of Tensors indices, Tensor values, bool accumulate = False)")
def index_put(
    input: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with the elements set, or added to, that tensors of indices or masks choose."""
    return index_put_(wrap(copy_of(input, input.dtype)), indices, values, accumulate)


@_changing("put(Tensor input, Tensor index, Tensor source, bool accumulate = False)", out=False)
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
    _write_back(array, flat)
