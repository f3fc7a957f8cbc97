"""Copies with elements at other places: repeat, roll, flip, triangles and diagonals of matrices.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops; Other Operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, check_long, wrap_dim, wrap_dims
from th_shell.torch.calls.schema import OUT, IntsOrOne, Out, TensorOrInt
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import check_types
from th_shell.torch.compute.reductions import along
from th_shell.torch.ops.creation import check_sizes
from th_shell.torch.ops.slicing import diagonal as diagonal_view
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import delivered

_INDICES = frozenset(np.dtype(name).num for name in ("int32", "int64"))


# -- repeating


def _repeated(array: Array, repeats: Shape) -> Tensor:
    """Return the array repeated along each dimension; more `repeats` add dimensions in front."""
    sizes = (1,) * (len(repeats) - array.ndim) + array.shape
    full = check_sizes(tuple([n * size for n, size in zip(repeats, sizes, strict=True)]))
    return wrap(np.ascontiguousarray(np.tile(array, repeats)).reshape(full))


@op(function=False)
def repeat(input: Tensor, repeats: Shape) -> Tensor:
    """Return the tensor so many times along each dimension; further dimensions come in front."""
    if len(repeats) < input.array.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return _repeated(input.array, repeats)


@op()
def tile(input: Tensor, dims: Shape) -> Tensor:
    """Return the tensor repeated as by `repeat`; missing numbers in front count as 1."""
    return _repeated(input.array, (1,) * (input.array.ndim - len(dims)) + dims)


@op()
def repeat_interleave(input: Tensor, repeats: TensorOrInt, dim: int | None = None) -> Tensor:
    """Return each position of a dimension so many times, or as many times as a tensor tells."""
    array, axis = along(input.array.reshape(-1) if dim is None else input.array, dim or 0)
    counts, size = repeats, array.shape[axis]
    if isinstance(repeats, Tensor):
        counts = repeats.array
        check_types("repeat_interleave_cpu", _INDICES, counts.dtype)
        require(counts.ndim <= 1, "repeats must be 0-dim or 1-dim tensor")
        if counts.ndim and counts.size not in (1, size):
            raise RuntimeError(
                f"repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{counts.size} and input.size({axis}) = {size}"
            )
    require(np.min(counts, initial=0) >= 0, "repeats can not be negative")
    total = np.sum(np.broadcast_to(counts, size), dtype=np.float64)
    check_sizes((int(total), *np.delete(array.shape, axis)))
    return wrap(np.ascontiguousarray(np.repeat(array, counts, axis)))


# -- rolling and flipping


@op()
def roll(input: Tensor, shifts: IntsOrOne, dims: IntsOrOne | None = ()) -> Tensor:
    """Return the elements moved along dimensions; those beyond the end come in at the front."""
    array = input.array
    dims = () if dims is None else dims
    shifts, dims = (((x,) if isinstance(x, int) else x) for x in (shifts, dims))
    check_long(*shifts, *dims)
    require(shifts, "`shifts` required")
    if not dims and len(shifts) == 1:
        return wrap(np.roll(array.reshape(-1), shifts[0]).reshape(array.shape))
    wrong = "shifts and dimensions must align. shifts: {}, dims:{}"
    require(len(shifts) == len(dims), wrong, len(shifts), len(dims))
    if not array.size:
        return wrap(array.copy())
    axes = [wrap_dim(dim, array.ndim, takes_scalar=False) for dim in dims]
    for shift, axis in zip(shifts, axes, strict=True):
        array = np.roll(array, shift, axis)
    return wrap(np.ascontiguousarray(array))


def _flipped(tensor: Tensor, dims: Any) -> Tensor:
    array = tensor.array
    index = [slice(None)] * array.ndim
    for dim in dims:
        index[dim] = slice(None, None, -1)
    flipped = array[tuple(index)]
    copy = empty_like_array(tensor, array.dtype)
    copy[...] = flipped
    return wrap(copy)


@op()
def flip(input: Tensor, dims: Shape) -> Tensor:
    """Return the elements in the opposite order along dimensions."""
    array = input.array
    wrapped = wrap_dims(dims, array.ndim)
    return _flipped(input, wrapped if array.ndim else ())


@op()
def fliplr(input: Tensor) -> Tensor:
    """Return the columns in the opposite order."""
    require(input.array.ndim >= 2, "Input must be >= 2-d.")
    return _flipped(input, (1,))


@op()
def flipud(input: Tensor) -> Tensor:
    """Return the rows in the opposite order."""
    require(input.array.ndim >= 1, "Input must be >= 1-d.")
    return _flipped(input, (0,))


# -- triangles


def _triangles(name: str, compute: Callable[..., Array], side: str) -> None:
    """Register numpy's tril or triu. side: of the diagonal on which elements are kept."""

    @op(name=name, in_place=True)
    def triangle(input: Tensor, diagonal: int = 0, *, out: Out = None) -> Tensor:
        array = input.array
        require(array.ndim >= 2, "{}: input tensor must have at least 2 dimensions", name)
        elements = compute(array, _limited(array.shape, diagonal))
        return delivered(wrap(np.ascontiguousarray(elements)), out, input)

    triangle.__doc__ = f"Return matrices with zeros everywhere but on and {side} a diagonal."


def _limited(shape: Shape, diagonal: int) -> int:
    check_long(diagonal)
    # Beyond these all diagonals are the same; a larger number may be no integer of numpy's.
    return max(-shape[-2] - 1, min(diagonal, shape[-1] + 1))


_triangles("tril", np.tril, "below")
_triangles("triu", np.triu, "above")


# -- diagonals


@op(more=OUT)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy of a matrix's diagonal, or the matrix with a vector as its diagonal."""
    check_long(diagonal)
    ndim = input.array.ndim
    require(ndim in (1, 2), "diag(): Supports 1D or 2D tensors. Got {}D", ndim)
    if ndim == 1:
        return diag_embed(input, diagonal)
    return wrap(diagonal_view(input, diagonal, 0, 1).array.copy())


@op()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices that have the last dimension as a diagonal, and zeros elsewhere."""
    array = input.array
    ndim = array.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    require(first != second, "diagonal dimensions cannot be identical {}, {}", dim1, dim2)
    size = array.shape[-1] + abs(offset)
    shape = list(array.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    matrices = wrap(np.zeros(shape, array.dtype))
    diagonal_view(matrices, offset, first, second).array[...] = array
    return matrices


@op()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return the matrix that has all elements as a diagonal."""
    return diag_embed(wrap(input.array.reshape(-1)), offset)
