"""Tensors from several ones: cat, stack, meshgrid.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops; Other Operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from th_shell.runtime.compute.bulk import copy_into
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import can_cast
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed, wrap_dim
from th_shell.torch.base.warn import warn_once
from th_shell.torch.calls.argument_types import as_tensors
from th_shell.torch.calls.schema import Out, Tensors
from th_shell.torch.calls.table import functional, op
from th_shell.torch.compute.promotion import result_type
from th_shell.torch.tensors.large_arrays import empty_tensor, threads
from th_shell.torch.tensors.layouts import check_apart
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap
from th_shell.torch.tensors.writing import resize_to

#: Copies of so many bytes are shared out to threads.
_SHARED = 8 * LARGE


def _check_sizes(arrays: Sequence[Any], dim: int) -> list[Any]:
    """Return the arrays that are joined; their sizes fit. dim may be negative."""
    for position, array in enumerate(arrays):
        require(
            array.ndim, "zero-dimensional tensor (at position {}) cannot be concatenated", position
        )
    # PyTorch joins tensors without elements in one dimension with those of any dimensions.
    joined = [(at, array) for at, array in enumerate(arrays) if array.shape != (0,)]
    if not joined:
        return [arrays[0]]
    first = joined[0][1].shape
    dim = wrap_dim(dim, len(first))
    for at, array in joined:
        shape = array.shape
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for axis, (m, n) in enumerate(zip(first, shape, strict=True)):
            if m != n and axis != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {m} but "
                    f"got size {n} for tensor number {at} in the list."
                )
    return [array for _, array in joined]


def _concatenated(arrays: list[Any], dim: int) -> Tensor | None:
    """Return contiguous arrays of one type joined; None for others, and for those that differ.

    Their sizes may not fit, which is an error in PyTorch's words, or one is to be skipped.
    """
    kind = arrays[0].dtype
    for array in arrays:
        if array.dtype is not kind or not array.flags.c_contiguous:
            return None
    if dim == 0 and arrays[0].nbytes >= _SHARED and all(a.nbytes >= _SHARED for a in arrays):
        return _copied(arrays)
    try:
        return wrap(np.concatenate(arrays, dim))
    except ValueError:
        return None


def _copied(arrays: list[Any]) -> Tensor | None:
    """Return large arrays joined along their first dimension, each copied by several threads."""
    first = arrays[0]
    if any([array.shape[1:] != first.shape[1:] for array in arrays]):
        return None
    tensor = empty_tensor((sum(map(len, arrays)), *first.shape[1:]), first.dtype)
    with threads.active():
        at = 0
        for array in arrays:
            copy_into(tensor.array[at : at + len(array)], array)
            at += len(array)
    return tensor


@op(name="cat concat concatenate")
def cat(tensors: Tensors, dim: int = 0, *, out: Out = None) -> Tensor:
    """Return the tensors one after the other along a dimension."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    arrays = [t._array if t._storage is None else t.array for t in tensors]
    if out is None and (tensor := _concatenated(arrays, dim)) is not None:
        return tensor
    joined = _check_sizes(arrays, dim)
    dim = dim if joined[0].shape != (0,) else 0
    meet = result_type(*tensors)
    if out is not None and not can_cast(meet, out.dtype):
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {out.dtype.scalar}"
        )
    shape = list(joined[0].shape)
    shape[dim] = sum([array.shape[dim] for array in joined])
    result = np.empty(shape, (meet if out is None else out.dtype).numpy)
    np.concatenate(joined, dim, out=result, casting="unsafe")
    if out is None:
        return wrap(result)
    check_apart(out, tensors, takes_same=False)
    resize_to(out, result.shape)
    np.copyto(out.array, result)
    return out


def _not_empty(tensors: Tensors, name: str) -> Tensors:
    require(tensors, "{} expects a non-empty TensorList", name)
    return tensors


@op()
def stack(tensors: Tensors, dim: int = 0, *, out: Out = None) -> Tensor:
    """Return the tensors, all of one shape, along a new dimension."""
    arrays = [each.array for each in _not_empty(tensors, "stack")]
    shape = arrays[0].shape
    dim = wrap_dim(dim, len(shape) + 1)
    for position, array in enumerate(arrays):
        if array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {listed(shape)} at entry 0 "
                f"and {listed(array.shape)} at entry {position}"
            )
    if out is not None:
        check_apart(out, tensors, takes_same=False)
    index = (slice(None),) * dim + (None,)
    arrays = [array[index] for array in arrays]
    if out is None and (tensor := _concatenated(arrays, dim)) is not None:
        return tensor
    return cat(tuple(map(wrap, arrays)), dim, out=out)


# -- at least so many dimensions


def _column(array: Array) -> Array:
    return array if array.ndim > 1 else array.reshape(-1, 1)


def _stacking(names: str, widen: Callable[[Array], Array], dim: int, doc: str) -> None:
    """Register a function that joins tensors, each with at least so many dimensions."""

    @op(name=names)
    def joined(tensors: Tensors, *, out: Out = None) -> Tensor:
        wide = [view_of(t, widen(t.array)) for t in _not_empty(tensors, names.split()[0])]
        return cat(tuple(wide), min(dim, len(wide[0].sizes) - 1), out=out)

    joined.__doc__ = f"Return tensors joined along the {doc}"


for _names, _widen, _dim, _doc in (
    ("hstack", np.atleast_1d, 1, "second dimension; those of one dimension along that."),
    ("vstack row_stack", np.atleast_2d, 0, "first dimension; those of one dimension as rows."),
    ("dstack", np.atleast_3d, 2, "third dimension, which those with fewer dimensions get."),
    ("column_stack", _column, 1, "second dimension; those of one dimension as columns."),
):
    _stacking(_names, _widen, _dim, _doc)


# -- grids


@functional
def meshgrid(*tensors: Any, indexing: Any = None) -> Tensors:
    """Return tensors of one dimension as coordinates of a grid.

    indexing: 'ij', the default, for rows and columns; 'xy' for the first two exchanged.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    arrays = [tensor.array for tensor in as_tensors(_not_empty(tensors, "meshgrid"))]
    if any(array.ndim > 1 or array.dtype != arrays[0].dtype for array in arrays):
        raise RuntimeError("meshgrid expects vectors or numbers of one type")
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
    wrong = 'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {}'
    require(indexing in (None, "ij", "xy"), wrong, indexing)
    return tuple(map(wrap, np.meshgrid(*arrays, indexing=indexing or "ij")))
