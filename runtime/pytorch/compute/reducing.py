"""What reductions, sorting and searching share: dimensions, types, results and `out=`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import contiguous_strides
from runtime.pytorch.base.results import named
from runtime.pytorch.base.shapes import Shape, wrap_dim, wrap_dims
from runtime.pytorch.compute.sums import FEW
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import deliver


def axes_of(dim: Any, ndim: int) -> Shape | None:
    """numpy's axes for a dimension, or several; None for all. Raises IndexError, RuntimeError."""
    if dim.__class__ is int:
        axes: Shape = (dim,) if 0 <= dim < ndim else (wrap_dim(dim, ndim),)
    elif dim is None or dim == ():
        return None
    else:
        axes = wrap_dims(dim, ndim)
    return axes if ndim else None


def check_not_empty(name: str, array: Array, axes: Shape | None, error: type[Exception]) -> None:
    """Raise an error where no element is left to choose from."""
    if axes is None:
        if not array.size:
            tail = " Specify the reduction dim with the 'dim' argument."
            raise error(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                f"{tail if error is RuntimeError else ''}"
            )
        return
    for axis in axes:
        if not array.shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


# -- elements along a dimension


def along(array: Array, dim: int) -> tuple[Array, int]:
    """An array with a dimension at least, and the axis of a dimension. Raises IndexError."""
    axis = wrap_dim(dim, array.ndim)
    return (array, axis) if array.ndim else (array.reshape(1), 0)


def _grid(shape: Shape, axis: int) -> tuple[Array, ...]:
    """Indices of all other dimensions, which are broadcast with those along an axis."""
    grid = []
    for at, size in enumerate(shape):
        if at != axis:
            grid.append(np.arange(size).reshape([-1 if d == at else 1 for d in range(len(shape))]))
    return tuple(grid)


#: The indices for small arrays are kept; they are quicker found than made.
_small_grid = lru_cache(maxsize=256)(_grid)


def take_at(array: Array, at: Array, axis: int) -> Array:
    """The elements at indices along an axis; both have the same other sizes."""
    if array.ndim == 1:
        return array[at]
    make = _small_grid if array.size < FEW else _grid
    grid = make(array.shape[:axis] + (1,) + array.shape[axis + 1 :], axis)
    found: Array = array[(*grid[:axis], at, *grid[axis:])]
    return found


# -- results


def tidy(array: Any) -> Array:
    """A result with the strides of a contiguous tensor, also in dimensions of size 1.

    numpy gives results the order of dimensions that the operands have.
    """
    found: Array = array if array.__class__ is np.ndarray else np.asarray(array)
    if found.flags.c_contiguous and 1 not in found.shape and found.size:
        return found
    width = found.itemsize
    wanted = tuple([step * width for step in contiguous_strides(found.shape)])
    if found.strides == wanted:
        return found
    found = np.ascontiguousarray(found).reshape(-1).reshape(found.shape)
    return found


def give(values: Any, out: Tensor | None) -> Tensor:
    """A result as a tensor; written to out, where that is given."""
    found = wrap(values)
    return found if out is None else deliver(out, found)


def give_pair(name: str, first: Any, second: Any, out: tuple[Tensor, ...] | None) -> Any:
    """Two results as the operation's named tuple; written to out, where that is given."""
    if out is None:
        return named(name, wrap(first), wrap(second))
    return named(f"{name}_out", give(first, out[0]), give(second, out[1]))
