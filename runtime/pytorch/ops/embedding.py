"""Copies in which a view has other elements: select_scatter, slice_scatter, diagonal_scatter.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from runtime.core.dtypes import Array
from runtime.pytorch.base.shapes import Shape, listed, wrap_dim
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT
from runtime.pytorch.ops.layout import as_strided as view_as_strided
from runtime.pytorch.ops.parts import diagonal_of, part
from runtime.pytorch.ops.parts import select as view_select
from runtime.pytorch.tensors.layouts import copy_of
from runtime.pytorch.tensors.striding import strided
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast


def _is_expanded(array: Array) -> bool:
    return any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True))


def _copy(input: Tensor) -> Tensor:
    """A copy of the whole storage, so that the strides and the offset stay."""
    if input._storage is None or _is_expanded(input.array):
        return wrap(copy_of(input, input.dtype))
    memory = wrap(input._storage.data.copy().view(input.array.dtype))
    return strided(memory, input.sizes, input.strides, input.offset)


def _set(view: Tensor, src: Tensor) -> None:
    target = view.array
    if target.shape != src.array.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{listed(src.array.shape)}, slice size = {listed(target.shape)}"
        )
    target[...] = cast(src.array, target.dtype)


@op(more=OUT)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which one position of a dimension has the elements of a source."""
    found = _copy(input)
    _set(view_select(found, dim, index), src)
    return found


@op(more=OUT)
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy in which some positions of a dimension have the elements of a source."""
    found = _copy(input)
    shape = found.array.shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(shape[dim])
    _set(part(found, dim, first, last, step), src)
    return found


@op(more=OUT)
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy in which a diagonal has the elements of a source."""
    found = _copy(input)
    _set(diagonal_of(found, offset, dim1, dim2), src)
    return found


@op(more=OUT)
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """A copy in which a view of its storage has the elements of a source."""
    found = _copy(input)
    _set(view_as_strided(found, size, stride, storage_offset), src)
    return found
