"""Indices in brackets: the view that one selects, and the arrays that then choose elements of it.

PyTorch takes numbers, slices, None and ... first, which give a view; tensors, masks and lists then
choose elements of the view. (In numpy a number counts as an array, which can move dimensions.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import dtype_of, int64
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.shapes import Shape, check_long, listed, wrap_dim
from th_shell.torch.base.warn import warn
from th_shell.torch.compute.literals import array_of
from th_shell.torch.tensors.layouts import strided
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.tensors.writing import cast

#: Arrays of indices by the dimension of the view that they index.
Chosen = dict[int, Array]

_SEQUENCES = (Sequence, np.ndarray)


class _View:
    """A view in the making: dimensions are taken away, changed and added from the left."""

    def __init__(self, tensor: Tensor) -> None:
        self.sizes = list(tensor.array.shape)
        self.strides = list(tensor.strides)
        self.shift = 0
        self.dim = 0

    def select(self, index: int, position: int) -> None:
        dim = self.dim
        if not self.sizes and index == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        check_long(index)
        size = self.sizes[dim] if dim < len(self.sizes) else 0
        if not -size <= index < size:
            raise IndexError(
                f"index {index} is out of bounds for dimension {position} with size {size}"
            )
        self.shift += (index % size) * self.strides[dim]
        del self.sizes[dim], self.strides[dim]

    def slice(self, index: slice) -> None:
        _, _, step = index.indices(0)  # raises TypeError and ValueError
        if step < 0:
            raise ValueError("step must be greater than zero")
        if not self.sizes:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        dim = wrap_dim(self.dim, len(self.sizes))
        start, stop, step = index.indices(self.sizes[dim])
        self.sizes[dim] = max(0, -((start - stop) // step))
        self.shift += start * self.strides[dim]
        self.strides[dim] *= step
        self.dim += 1

    def add(self) -> None:
        dim = wrap_dim(self.dim, len(self.sizes) + 1)
        step = self.sizes[dim] * self.strides[dim] if dim < len(self.sizes) else 1
        self.sizes.insert(dim, 1)
        self.strides.insert(dim, step)
        self.dim += 1


def parse(tensor: Tensor, index: Any) -> tuple[Tensor, Chosen]:
    """Return the view of a tensor that an index tells, and what indexes the view's dimensions.

    Raises IndexError, TypeError and ValueError.
    """
    if index.__class__ is Tensor and index.array.ndim and _count(index) <= tensor.array.ndim:
        return tensor, {0: _checked(index.array, 0, tensor.array.shape)}
    items = _items(index)
    view = _View(tensor)
    chosen: Chosen = {}
    ndim, taken = tensor.array.ndim, sum(map(_count, items))
    single = index.__class__ is not tuple and len(items) == 1
    if taken > ndim and not (single and isinstance(items[0], (int, slice))):
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    for position, item in enumerate(items):
        if item is Ellipsis:
            view.dim += ndim - taken
        else:
            _take(view, chosen, item, position)
    sizes, strides = tuple(view.sizes), tuple(view.strides)
    viewed = strided(tensor, sizes, strides, view.shift)
    return viewed, {dim: _checked(array, dim, sizes) for dim, array in chosen.items()}


def _items(index: Any) -> Any:
    """Return the parts of an index. A list that has more than numbers in it counts as a tuple."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, (Tensor, np.ndarray)) or not isinstance(index, Sequence):
        return (index,)
    if len(index) < 32:
        for item in index:
            if item is None or item is Ellipsis or isinstance(item, (Tensor, slice, *_SEQUENCES)):
                return tuple(index)
    return (index,)


def _count(item: Any) -> int:
    """Return the number of the tensor's dimensions that a part of an index takes."""
    if isinstance(item, Tensor):
        array = item.array
        return array.ndim if _is_mask(array) else 1
    return 0 if item is None or item is Ellipsis or item is True or item is False else 1


def _is_mask(array: Array) -> bool:
    return array.dtype.kind == "b" or array.dtype == np.uint8


def _take(view: _View, chosen: Chosen, item: Any, position: int) -> None:
    if item is None:
        view.add()
    elif isinstance(item, bool):
        _take_truth(view, chosen, item)
    elif isinstance(item, (int, np.integer)):
        view.select(int(item), position)
    elif isinstance(item, slice):
        view.slice(item)
    elif isinstance(item, Tensor):
        _take_array(view, chosen, item.array, position)
    elif isinstance(item, np.ndarray) and not item.ndim:
        _take_array(view, chosen, item, position)
    elif isinstance(item, _SEQUENCES):
        _take_array(view, chosen, _from_sequence(item), position)
    elif hasattr(item, "__index__") and not isinstance(item, (np.bool_, type)):
        view.select(item.__index__(), position)
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type_name(item)})"
        )


def _take_truth(view: _View, chosen: Chosen, value: bool) -> None:
    """Add a dimension that has one position if a value is true, or none."""
    chosen[view.dim] = np.zeros(1 if value else 0, np.int64)
    view.add()


def _take_array(view: _View, chosen: Chosen, array: Array, position: int) -> None:
    if array.ndim or array.dtype.kind not in "biu":
        chosen[view.dim] = array
        view.dim += array.ndim if _is_mask(array) else 1
    elif _is_mask(array):
        _take_truth(view, chosen, bool(array))
    else:
        view.select(int(array), position)


def _from_sequence(items: Any) -> Array:
    """Return a list of numbers, or a list of such lists, as an array: of bool, or of integers.

    Raises TypeError, ValueError and RuntimeError.
    """
    if isinstance(items, np.ndarray):
        dtype_of(items.dtype)
        return items if _is_mask(items) else cast(items, np.dtype(np.int64))
    array = array_of(items)
    return array_of(items, int64) if array.dtype.kind == "f" else array


# -- arrays of indices


def _checked(array: Array, dim: int, sizes: Shape) -> Array:
    """Return an array that may index some dimensions from one on. Raises IndexError."""
    if not _is_mask(array):
        if array.dtype not in (np.int64, np.int32):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return array
    if array.dtype.kind != "b":
        warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
            "instead."
        )
    for at, size in enumerate(array.shape):
        if dim + at >= len(sizes):
            raise IndexError(f"too many indices for tensor of dimension {len(sizes)}")
        if sizes[dim + at] != size:
            raise IndexError(
                f"The shape of the mask {listed(array.shape)} at index {at} does not match the "
                f"shape of the indexed tensor {listed(sizes)} at index {dim + at}"
            )
    return array


def as_indices(chosen: Chosen) -> Chosen:
    """Return arrays of integers in place of masks. Raises IndexError where they fit no shape."""
    indices: Chosen = {}
    for dim, array in chosen.items():
        if _is_mask(array):
            indices |= {dim + at: places for at, places in enumerate(array.nonzero())}
        else:
            indices[dim] = array
    try:
        broadcast_shape(indices)
    except ValueError:
        shapes = ", ".join(listed(array.shape) for array in indices.values())
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    return indices


def broadcast_shape(indices: Chosen) -> Shape:
    """Return the shape to which arrays of indices are broadcast. Raises ValueError."""
    shapes = {array.shape for array in indices.values()}
    shape: Shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    return shape


def indexed_shape(sizes: Shape, indices: Chosen) -> Shape:
    """Return the shape of the elements that arrays choose of a view with some sizes."""
    chosen = broadcast_shape(indices)
    dims = sorted(indices)
    remaining = [size for dim, size in enumerate(sizes) if dim not in indices]
    front = dims[0] if dims[-1] - dims[0] == len(dims) - 1 else 0
    return (*remaining[:front], *chosen, *remaining[front:])


def check_bounds(sizes: Shape, indices: Chosen) -> None:
    """Raise IndexError for the first index that is beyond its dimension's size."""
    dims = sorted(indices)
    arrays = np.broadcast_arrays(*[indices[dim] for dim in dims])
    bad = [(a < -sizes[dim]) | (a >= sizes[dim]) for dim, a in zip(dims, arrays, strict=True)]
    first = np.flatnonzero(np.logical_or.reduce(bad))
    if first.size:
        at = next(n for n, wrong in enumerate(bad) if wrong.flat[first[0]])
        raise IndexError(
            f"index {arrays[at].flat[first[0]]} is out of bounds for dimension {at} with size "
            f"{sizes[dims[at]]}"
        )
