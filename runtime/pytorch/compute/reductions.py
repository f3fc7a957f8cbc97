"""Helpers of reductions: axes, results, and sums and variances of many numbers.

numpy adds few numbers. Many are added by products with ones, for which numpy calls BLAS, and rows
by numpy's loop of `add`; variances and running sums are loops of LuaJIT's. Threads share these
loops. None takes more than `_ROW` steps one after the other, so that rounding errors stay small.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.compute.bulk import add_rows, cumulate_rows, spread_of_rows
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import Shape, wrap_dim, wrap_dims
from th_shell.torch.tensors.large_arrays import threads
from th_shell.torch.tensors.layouts import canonical
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import deliver, resize_to


def axes_of(dim: Any, ndim: int) -> Shape | None:
    """Return numpy's axes for some dimensions, None for all. Raises IndexError, RuntimeError."""
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
    """Return an array with a dimension at least, and the axis of a dimension. Raises IndexError."""
    axis = wrap_dim(dim, array.ndim)
    return (array, axis) if array.ndim else (array.reshape(1), 0)


def other_indices(shape: Shape, axis: int) -> tuple[Array, ...]:
    """Return indices of all other dimensions, which are broadcast with those along an axis."""
    grid = []
    for at, size in enumerate(shape):
        if at != axis:
            grid.append(np.arange(size).reshape([-1 if d == at else 1 for d in range(len(shape))]))
    return tuple(grid)


#: The indices for small arrays are kept; they are quicker found than made.
_small_grid = lru_cache(maxsize=256)(other_indices)


def take_at(array: Array, at: Array, axis: int) -> Array:
    """Return the elements at indices along an axis; the indices' other sizes are at most theirs."""
    if array.ndim == 1:
        return array[at]
    make = _small_grid if array.size < FEW else other_indices
    grid = make(at.shape[:axis] + (1,) + at.shape[axis + 1 :], axis)
    elements: Array = array[(*grid[:axis], at, *grid[axis:])]
    return elements


# -- results


def tidy(array: Any) -> Array:
    """Return a result with the strides of a contiguous tensor, also in dimensions of size 1.

    numpy gives results the order of dimensions that the operands have.
    """
    result: Array = array if array.__class__ is np.ndarray else np.asarray(array)
    return canonical(result if result.flags.c_contiguous else result.copy("C"))


def give(values: Any, out: Tensor | None, warns: bool = True) -> Tensor:
    """Return a result as a tensor; written to out, where that is given.

    warns: whether it warns of an out that had elements and another shape.
    """
    result = values if isinstance(values, Tensor) else wrap(values)
    if out is None:
        return result
    if not warns:
        resize_to(out, result.sizes, warns=False)
    delivered: Tensor = deliver(out, result)
    return delivered


def pair(name: str, first: Any, second: Any) -> Any:
    """Return two results as the operation's named tuple."""
    return named(name, wrap(first), wrap(second))


#: Fewer elements than this are added in PyTorch's order, and so with its rounding.
FEW = 4096


# A sum of a row in turn is the last one of numpy's running sums, since its sum takes pairs. It adds
# whole rows one after the other, and so less than eight numbers of a single column. A sum begins
# with 0, so that it is never -0.


# -- many numbers

#: Numbers of a row that are added by one product, and rows of numbers.
_ROW, _ROWS = 256, 128
_LINE = 64  # bytes
#: Longer rows are added in parts.
_LONGEST = 2048
#: With fewer rows numpy's sum is quicker, and as good.
_FEW_ROWS = 8


def _suits(array: Array) -> bool:
    return array.size >= LARGE and array.dtype.char in "fd" and array.flags.c_contiguous


def total(array: Array, axes: Shape | None, keepdim: bool) -> Any:
    """Return the sum along axes; None where numpy is to take it."""
    if not _suits(array):
        return None
    if axes is None or len(axes) == array.ndim:
        sums = quietly.run(_of_row, array.reshape(-1))
        return sums.reshape((1,) * array.ndim) if keepdim else sums
    axis, end = min(axes), max(axes) + 1
    if end - axis != len(axes):
        return None
    n, inside = prod(array.shape[axis:end]), prod(array.shape[end:])
    if inside == 1 and 1 < n <= _LONGEST:
        sums = quietly.run(np.matmul, array.reshape(-1, n), np.ones(n, array.dtype))
    elif axis == 0 and inside > 1 and n >= _FEW_ROWS:
        sums = quietly.run(_of_rows, array.reshape(n, inside))
    else:
        return None
    ones = (1,) * len(axes) if keepdim else ()
    return sums.reshape(array.shape[:axis] + ones + array.shape[end:])


def _of_row(row: Array) -> Any:
    whole = row.size - row.size % _ROW
    sums = row[:whole].reshape(-1, _ROW) @ np.ones(_ROW, row.dtype)
    return np.add.reduce(sums) + np.add.reduce(row[whole:])


def _of_rows(rows: Array) -> Array:
    n, width = rows.shape
    count = -(-n // _ROWS)
    high = n // count
    whole = count * high
    room = np.zeros(count * width + _LINE, rows.dtype)  # from a line of the cache on: to write
    start = -address_of(room) % _LINE // rows.itemsize  # across lines takes half as long again
    sums = room[start : start + count * width].reshape(count, width)
    with threads.active():
        add_rows(rows[:whole].reshape(count, high, width), sums)
    # numpy adds the numbers of a row in pairs, and rows one after the other.
    few = count <= _FEW_ROWS
    result: Array = np.add.reduce(sums if few else np.ascontiguousarray(sums.T), 1 - few)
    return result + np.add.reduce(rows[whole:], 0) if whole < n else result


def spread(array: Array, axes: Shape | None) -> tuple[Array, Array] | None:
    """Return the averages along axes and the sums of squared distances from them, as float64.

    The axes are kept, with sizes of 1. None where numpy is to compute them: for few numbers, and
    for those that are not all finite.
    """
    if array.size < LARGE or array.dtype.char not in "fd" or not _is_finite(array):
        return None
    axes = tuple(range(array.ndim)) if axes is None else axes
    sizes = tuple([1 if dim in axes else size for dim, size in enumerate(array.shape)])
    outer = [dim for dim in range(array.ndim) if dim not in axes]
    n = array.size // prod(sizes)
    rows = np.ascontiguousarray(array.transpose(*outer, *axes)).reshape(-1, n)
    with threads.active():
        moments = spread_of_rows(rows) if n <= _LONGEST else _merged(rows)
    return moments[0].reshape(sizes), moments[1].reshape(sizes)


def _merged(rows: Array) -> tuple[Array, Array]:
    """Return the spread of long rows, from that of their parts."""
    count, n = rows.shape
    whole = n - n % _ROW
    parts = np.ascontiguousarray(rows[:, :whole]).reshape(-1, _ROW)
    averages, squares = (x.reshape(count, -1) for x in spread_of_rows(parts))
    sizes = np.full(averages.shape[1], float(_ROW))
    if whole < n:
        last = spread_of_rows(np.ascontiguousarray(rows[:, whole:]), large=False)
        averages = np.concatenate([averages, last[0][:, None]], 1)
        squares = np.concatenate([squares, last[1][:, None]], 1)
        sizes = np.append(sizes, n - whole)
    average = averages[:, :1] + ((averages - averages[:, :1]) @ sizes / n)[:, None]
    apart = np.square(averages - average) @ sizes
    return average[:, 0], squares.sum(1) + apart


def sums_so_far(array: Array, out: Array) -> bool:
    """Write the sums so far along the last dimension to an array like it; whether that was done.

    It is not for few numbers, and for those that are not all finite.
    """
    if not _suits(array) or not out.flags.c_contiguous or not _is_finite(array):
        return False
    with threads.active():
        cumulate_rows(array.reshape(-1, array.shape[-1]), out)
    return True


def _is_finite(array: Array) -> bool:
    """Tell whether all numbers are, and also their sum: then none is a nan or infinite.

    Not by BLAS, whose threads spin for a while after each call: ours would wait for a processor.
    """
    whole = array.size // _LONGEST * _LONGEST if _suits(array) else 0
    row = array.reshape(-1) if whole else array
    sum_of_all = quietly.run(np.add.reduce, row[whole:], None)
    if whole:
        sum_of_all = sum_of_all + quietly.run(_of_rows, row[:whole].reshape(-1, _LONGEST)).sum()
    return bool(np.isfinite(sum_of_all))
