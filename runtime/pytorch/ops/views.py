"""Views with other sizes: view and reshape, flatten, squeeze, expand.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops; Tensor Views.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from itertools import chain
from math import prod
from typing import Any

from th_shell.torch.base.dtypes import dtype
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import (
    Shape,
    Size,
    broadcast,
    infer_size,
    listed,
    wrap_dim,
    wrap_dims,
)
from th_shell.torch.calls.argument_types import as_tensors
from th_shell.torch.calls.schema import IntOrShape
from th_shell.torch.calls.table import functional, op
from th_shell.torch.tensors.layouts import strided, view_strides
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap


def becoming(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a method that makes its tensor the view that a function gives."""

    @wraps(view)
    def change(input: Tensor, *args: Any, **named: Any) -> Tensor:
        input.become(view(input, *args, **named))
        return input

    change.__doc__ = f"Make the tensor itself the view that `{view.__name__}` returns."
    return change


def in_place(view: Callable[..., Tensor], names: str) -> None:
    """Register methods that make their tensor the view that a function gives."""
    op(name=names, function=False)(becoming(view))


# -- view and reshape


@op(name="view", function=False)
def view_as_type(input: Tensor, dtype: dtype) -> Tensor:
    """Return the same memory as elements of another type."""
    array, width = input.array, dtype.itemsize
    try:
        viewed = array.view(dtype.numpy)
    except (TypeError, ValueError):
        viewed = None
    steps = (*array.strides[:-1], input.place)
    if viewed is None or any(step % width for step in steps):
        raise RuntimeError(
            f"elements of {input.dtype!r} in the sizes {listed(input.sizes)} and strides "
            f"{listed(input.strides)} are no whole elements of {dtype!r}"
        )
    return view_of(input, viewed)


@op(function=False)
def view(input: Tensor, size: Shape) -> Tensor:
    """Return a view with other sizes, one of which may be -1: the count that the others leave."""
    viewed = _view(input, size)
    if viewed is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return viewed


def _view(input: Tensor, size: Shape) -> Tensor | None:
    array = input.array
    shape = array.shape
    if array.flags.c_contiguous and array.size and 1 not in shape:
        try:
            reshaped_array = array.reshape(size)
            if (
                reshaped_array.shape == size or min(size) >= -1
            ):  # numpy takes other negative sizes, too
                return view_of(input, reshaped_array)
        except (TypeError, ValueError):
            pass  # infer_size has the error
    full = infer_size(size, array.size)
    strides = view_strides(shape, input.strides, full)
    return None if strides is None else strided(input, full, strides)


@op(name="reshape")
def reshaped(input: Tensor, shape: Shape) -> Tensor:
    """Return a view with other sizes where that is possible, else a copy."""
    viewed = _view(input, shape)
    if viewed is not None:
        return viewed
    return wrap(input.array.reshape(infer_size(shape, input.array.size)))


@op(function=False)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return a view with another tensor's sizes."""
    return view(input, other.sizes)


@op(function=False)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the same elements with another tensor's sizes."""
    return reshaped(input, other.sizes)


@op()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return several dimensions as one; the tensor itself where that changes nothing."""
    sizes = input.array.shape
    start, end = wrap_dim(start_dim, len(sizes)), wrap_dim(end_dim, len(sizes))
    require(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim")
    if not sizes:
        return reshaped(input, (1,))
    if start == end:
        return input
    return reshaped(input, (*sizes[:start], prod(sizes[start : end + 1]), *sizes[end + 1 :]))


@op()
def unflatten(input: Tensor, dim: int, sizes: Shape) -> Tensor:
    """Return one dimension as several; one of the sizes may be -1."""
    old = input.array.shape
    dim = wrap_dim(dim, len(old))
    require(sizes, "unflatten: sizes must be non-empty")
    require(old, "unflatten: the tensor has no dimensions")
    return view(input, (*old[:dim], *infer_size(sizes, old[dim]), *old[dim + 1 :]))


@op()
def ravel(input: Tensor) -> Tensor:
    """Return the elements in one dimension; a view where that is possible."""
    return reshaped(input, (-1,)) if input.array.size else reshaped(input, (0,))


# -- dimensions of size 1


@op()
def squeeze(input: Tensor) -> Tensor:
    """Return a view without the dimensions of size 1."""
    return _keep(input, [size != 1 for size in input.array.shape])


@op(name="squeeze")
def squeeze_dims(input: Tensor, dim: IntOrShape) -> Tensor:
    """Return a view without those of the given dimensions that have size 1."""
    sizes = input.array.shape
    dims = wrap_dims((dim,) if isinstance(dim, int) else dim, len(sizes))
    return _keep(input, [size != 1 or at not in dims for at, size in enumerate(sizes)])


def _keep(input: Tensor, is_kept: list[bool]) -> Tensor:
    array = input.array
    sizes = [n for n, keep in zip(array.shape, is_kept, strict=True) if keep]
    strides = [n for n, keep in zip(input.strides, is_kept, strict=True) if keep]
    return strided(input, tuple(sizes), tuple(strides))


@op()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return a view with a further dimension of size 1."""
    array = input.array
    sizes = array.shape
    dim = wrap_dim(dim, len(sizes) + 1)
    if array.flags.c_contiguous and array.size and 1 not in sizes:
        return view_of(input, array.reshape((*sizes[:dim], 1, *sizes[dim:])))
    strides = input.strides
    step = sizes[dim] * strides[dim] if dim < len(sizes) else 1
    return strided(input, (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], step, *strides[dim:]))


in_place(squeeze, "squeeze_")
in_place(squeeze_dims, "squeeze_")
in_place(unsqueeze, "unsqueeze_")


# -- expanding


@op(name="broadcast_to")
def expanded(input: Tensor, size: Shape) -> Tensor:
    """Return a view in which dimensions of size 1 have other sizes. Raises RuntimeError."""
    sizes, strides = input.array.shape, input.strides
    more = len(size) - len(sizes)
    if more < 0:
        kind = input.dtype.scalar
        name = "CPUBoolType" if kind == "Bool" else f"torch.{kind}Tensor"
        raise RuntimeError(
            f"expand({name}{{{listed(sizes)}}}, size={listed(size)}): "
            f"the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(sizes)})"
        )
    if not sizes and any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    full: list[int] = list(size)
    steps = [0] * more + list(strides)
    for dim in range(len(size) - 1, -1, -1):
        old = sizes[dim - more] if dim >= more else 1
        if size[dim] == -1:
            if dim < more:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {dim}"
                )
            full[dim] = old
        elif size[dim] != old:
            if old != 1 or size[dim] < -1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({size[dim]}) must match the existing size "
                    f"({old}) at non-singleton dimension {dim}.  Target sizes: {listed(size)}.  "
                    f"Tensor sizes: {listed(sizes)}"
                )
            steps[dim] = 0
        elif dim < more and sizes:
            # A new dimension of size 1 has the stride that it would have in contiguous memory.
            steps[dim] = full[dim + 1] * steps[dim + 1]
    return strided(input, tuple(full), tuple(steps))


@op(function=False)
def expand(input: Tensor, size: Shape, *, implicit: bool = False) -> Tensor:
    """Return a view in which dimensions of size 1 have other sizes; -1 leaves a size as it is."""
    return expanded(input, size)


@op(function=False)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return a view that has another tensor's sizes."""
    return expanded(input, other.array.shape)


@functional
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return views of tensors that all have the shape to which they are broadcast together."""
    shape: Shape = reduce(broadcast, [tensor.array.shape for tensor in as_tensors(tensors)], ())
    return tuple([expanded(tensor, shape) for tensor in tensors])


@functional
def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape to which tensors of some shapes are broadcast. Raises RuntimeError."""
    tuples = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    negative = "Attempting to broadcast a dimension with negative length!"
    require(min(chain(*tuples), default=0) >= 0, negative, error=ValueError)
    return Size(reduce(broadcast, tuples, ()))


# -- the same view once more


@op()
def detach(input: Tensor) -> Tensor:
    """Return a view of the same elements; no tensor has gradients here."""
    return view_of(input, input.array.view())


@op()
def detach_(input: Tensor) -> Tensor:
    """Return the tensor itself; no tensor has gradients here."""
    return input


def _write_data(self: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    self.become(value)


setattr(Tensor, "data", property(detach, _write_data))  # noqa: B010
