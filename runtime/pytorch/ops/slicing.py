"""Views of parts: narrow, select, split, unbind, unfold, diagonal.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, check_long, listed, wrap_dim
from th_shell.torch.calls.table import FUNCTIONS, functional, op
from th_shell.torch.tensors.layouts import strided
from th_shell.torch.tensors.tensor import Tensor, view_of

Sized = tuple[int, int]  # a dimension, and its size
_LEAST = "expects at least a 1-dimensional tensor"


def part(input: Tensor, dim: int, start: int, stop: int, step: int = 1) -> Tensor:
    """Return a view of the positions from start up to stop in a dimension; all counted from 0."""
    array = input.array
    if array.size and start < stop:  # numpy does not keep the strides of empty parts
        return view_of(input, array[(slice(None),) * dim + (slice(start, stop, step),)])
    size = max(0, -((start - stop) // step))
    shape, strides = array.shape, list(input.strides)
    shift = start * strides[dim]
    strides[dim] *= step
    return strided(input, (*shape[:dim], size, *shape[dim + 1 :]), tuple(strides), shift)


def row(input: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of one position in a dimension, which the view has no more; both from 0."""
    array = input.array
    if array.size:
        return view_of(input, array[(slice(None),) * dim + (index, ...)])
    shape, strides = array.shape, input.strides
    shift = index * strides[dim]
    return strided(input, shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :], shift)


def _sized(input: Tensor, dim: int, message: str, error: type[Exception] = RuntimeError) -> Sized:
    """Return a dimension and its size. Raises an error where there are no dimensions."""
    shape = input.array.shape
    if not shape:
        raise error(message)
    dim = wrap_dim(dim, len(shape))
    return dim, shape[dim]


@op()
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of some positions of a dimension: from start on, length of them."""
    dim, size = _sized(input, dim, "narrow() cannot be applied to a 0-dim tensor.")
    require(length >= 0, "narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return part(input, dim, start, start + length)


@op()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of one position of a dimension, without that dimension."""
    message = "select() cannot be applied to a 0-dim tensor."
    dim, size = _sized(input, dim, message, IndexError)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {listed(input.sizes)} at "
            f"dimension {dim}"
        )
    return row(input, dim, index + size if index < 0 else index)


@op()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of all positions of a dimension."""
    shape = input.array.shape
    dim = wrap_dim(dim if shape else 0, len(shape), takes_scalar=False)
    return tuple([row(input, dim, index) for index in range(shape[dim])])


# -- splitting


def _cut(input: Tensor, dim: int, ends: Any) -> tuple[Tensor, ...]:
    """Return parts that end before some positions, the last at the end."""
    starts = [0, *ends]
    return tuple([part(input, dim, a, b) for a, b in zip(starts, starts[1:], strict=False)])


@op(name="split", method=False)
def split_evenly(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of parts of a dimension that have one size; the last may be smaller."""
    check_long(split_size)
    dim, size = _sized(input, dim, f"split {_LEAST}")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got {split_size=}")
    if size and not split_size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    ends = range(split_size, size + split_size, split_size) if size else (0,)
    return _cut(input, dim, [min(end, size) for end in ends])


@op("split(Tensor input, tuple of ints split_size, int dim = 0)", method=False)
@op()
def split_with_sizes(input: Tensor, split_sizes: Shape, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of parts of a dimension that have some sizes."""
    asked_dim, (dim, size) = dim, _sized(input, dim, f"split {_LEAST}")
    if any(n < 0 for n in split_sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={listed(split_sizes)}"
        )
    if sum(split_sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's "
            f"size at dimension {asked_dim}), but got split_sizes={listed(split_sizes)}"
        )
    return _cut(input, dim, accumulate(split_sizes))


_evenly, _with_sizes = FUNCTIONS["split"], FUNCTIONS["split_with_sizes"]


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    cut = _evenly if isinstance(split_size, int) else _with_sizes
    parts: tuple[Tensor, ...] = cut(self, split_size, dim)
    return parts


@functional
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of a dimension's parts: of one size, but for the last, or of listed sizes."""
    return _split_method(tensor, split_size_or_sections, dim)


_split_method.__name__, _split_method.__doc__ = "split", split.__doc__
setattr(Tensor, "split", _split_method)  # noqa: B010


@op()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of at most so many parts of a dimension, of one size but for the last."""
    check_long(chunks)
    dim, size = _sized(input, dim, f"chunk {_LEAST}")
    require(chunks > 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks)
    if not size:
        return _cut(input, dim, [0] * chunks)
    return split_evenly(input, -(-size // chunks), dim)


# -- windows and diagonals


@op(function=False)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return views of all windows in a dimension; the last dimension has their elements."""
    shape, strides = input.array.shape, input.strides
    dim = wrap_dim(dimension, len(shape))
    length = shape[dim] if shape else 1
    require(size >= 0, "size is {} but must be >= 0", size)
    wrong = "maximum size for tensor at dimension {} is {} but size is {}"
    require(size <= length, wrong, dim, length, size)
    require(step > 0, "step is {} but must be > 0", step)
    if not shape:
        return strided(input, (size,), (1,))
    count = (length - size) // step + 1
    sizes = (*shape[:dim], count, *shape[dim + 1 :], size)
    steps = (*strides[:dim], step * strides[dim], *strides[dim + 1 :], strides[dim])
    return strided(input, sizes, steps)


@op()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of a diagonal of two dimensions; a positive offset is above the main one."""
    shape, strides = input.array.shape, input.strides
    first, second = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    require(first != second, "diagonal dimensions cannot be identical {}, {}", dim1, dim2)
    below = max(-offset, 0), max(offset, 0)
    size = max(min(shape[first] - below[0], shape[second] - below[1]), 0)
    shift = below[0] * strides[first] + below[1] * strides[second] if size else 0
    remaining = [dim for dim in range(len(shape)) if dim not in (first, second)]
    sizes = (*[shape[dim] for dim in remaining], size)
    steps = (*[strides[dim] for dim in remaining], strides[first] + strides[second])
    return strided(input, sizes, steps, shift)
