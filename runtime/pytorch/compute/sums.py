"""Reductions: axes and results of all; sums, averages and variances as PyTorch rounds them.

Few numbers are added in PyTorch's order, which decides how a sum is rounded: rows of neighbours in
as many lanes as a vector has, and other rows in four lanes; the lanes are added up at the end. That
shows in a sum that should be 0, or 1.

Of many numbers the order depends on the number of threads, too. They are added by products with
ones, for which numpy calls BLAS, and rows by numpy's loop of `add`; variances, and sums so far, are
loops of LuaJIT's. Threads share these loops. None are taken in more than `_ROW` steps one after the
other, so that rounding errors stay small.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.compute.bulk import add_rows, cumulate_rows, spread_of_rows
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.addresses import address_of
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import Shape, wrap_dim, wrap_dims
from th_shell.torch.tensors.sharing import threads
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import deliver, resize_to


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


def give(values: Any, out: Tensor | None, warns: bool = True) -> Tensor:
    """A result as a tensor; written to out, where that is given.

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
    """Two results as the operation's named tuple."""
    return named(name, wrap(first), wrap(second))


# -- few numbers

#: How many numbers are in a vector, by the characters of the types that are added so.
_LANES = {"f": 8, "d": 4}
#: How many vectors, or numbers, PyTorch adds at once.
_FOUR = 4
#: Of fewer elements than this PyTorch's order, and its rounding, is followed.
FEW = 4096
#: It is not from so many on that are added up: vectors of a row, and numbers of a column.
_LONG_ROW, _LONG_COLUMN = 8, 16


_accumulate, _reduce = np.add.accumulate, np.add.reduce
#: numpy takes arrays sooner than numbers.
_ZEROS = {char: np.zeros((), char) for char in _LANES}


def ordered_sum(array: Array, axes: Shape | None, keepdim: bool) -> Any:
    """The sum along an axis, or of all elements; None where numpy's own is to be taken."""
    lanes = _LANES.get(array.dtype.char)
    if lanes is None or not array.flags.c_contiguous:
        return None
    shape = array.shape
    if axes is None or len(axes) == len(shape):
        n = array.size
        if not _FOUR < n < _LONG_ROW * lanes:
            return None
        found = _row(array if len(shape) == 1 else array.ravel(), n, lanes)
        return found.reshape((1,) * len(shape)) if keepdim else found
    return _along(array, shape, axes[0], keepdim, lanes) if len(axes) == 1 else None


def _along(array: Array, shape: Shape, axis: int, keepdim: bool, lanes: int) -> Any:
    places = _places(shape, axis, lanes)
    if places is not None:
        found = quietly.run(_reduce, array.ravel()[places], 0, None, None, False, 0.0)
        if len(shape) == 2 and not keepdim:
            return found
        return found.reshape(shape[:axis] + ((1,) if keepdim else ()) + shape[axis + 1 :])
    n, inside = shape[axis], prod(shape[axis + 1 :])
    if n <= _FOUR or not array.size:
        return None
    if inside == 1 and n < _LONG_ROW * lanes:
        found = _rows(array.reshape(-1, n), n, lanes)
    elif inside > 1 and n < _LONG_COLUMN:
        found = _columns(array.reshape(-1, n, inside), lanes)
    else:
        return None
    if len(shape) == 2 and not keepdim:
        return found.reshape(-1)
    return found.reshape(shape[:axis] + ((1,) if keepdim else ()) + shape[axis + 1 :])


def _in_turn(n: int) -> list[int]:
    """The order of less than eight rows: the first takes those that are left over."""
    return [*range(min(n, 1)), *range(_FOUR, n), *range(1, min(n, _FOUR))]


@lru_cache(maxsize=16)
def _turns(n: int) -> Array:
    return np.array(_in_turn(n))


@lru_cache(maxsize=256)
def _places(shape: Shape, axis: int, lanes: int) -> Array | None:
    """Where numbers are that are added along an axis: in rows, in the order of their addition.

    None where they are not added one after the other, or there is a single sum.
    """
    n, inside, outside = shape[axis], prod(shape[axis + 1 :]), prod(shape[:axis])
    if inside == 1 and outside > 1 and _FOUR < n < 2 * lanes:
        return _order(n, lanes)[:, None] + np.arange(outside) * n
    if axis or inside < 2 or not _FOUR < n < 2 * _FOUR:
        return None
    at_once = _at_once(inside, lanes)
    whole = inside // at_once * at_once
    rows = np.repeat(np.arange(n)[:, None], inside, 1)
    rows[:, whole:] = _turns(n)[:, None]
    return rows * inside + np.arange(inside)


def _at_once(inside: int, lanes: int) -> int:
    """How many columns PyTorch adds at once, each one number after the other."""
    return _FOUR * (lanes if inside >= lanes else 1)


@lru_cache(maxsize=512)
def _order(n: int, lanes: int) -> Array:
    """The order in which a row of less than two vectors is added; or one of many: its vectors."""
    vectors = n // lanes
    if vectors == 0:
        return np.array(_in_turn(n))
    if vectors == 1:
        return np.array([*range(lanes, n), *range(lanes)])
    return np.array([range(at * lanes, (at + 1) * lanes) for at in _in_turn(vectors)])


# A sum of a row in turn is the last one of numpy's running sums, since its sum takes pairs. It adds
# whole rows one after the other, and so less than eight numbers of a single column. A sum begins
# with 0, so that it is never -0.


def _row(row: Array, n: int, lanes: int) -> Array:
    """The sum of neighbours."""
    run = quietly.run
    parts = row[_order(n, lanes)]
    if n >= 2 * lanes:
        sums = run(_accumulate, parts)[-1]
        tail = n % lanes
        if tail:
            parts = np.empty(tail + lanes, row.dtype)
            parts[:tail] = row[-tail:]
            parts[tail:] = sums
        else:
            parts = sums
    found: Array = run(_accumulate, parts)[..., -1]
    if not found:
        found += 0
    return found


def _rows(rows: Array, n: int, lanes: int) -> Array:
    """The sums of rows of neighbours."""
    run = quietly.run
    parts = rows.take(_order(n, lanes), 1)
    if n >= 2 * lanes:
        sums = run(_accumulate, parts, 1)[:, -1]
        tail = n % lanes
        parts = np.concatenate((rows[:, -tail:], sums), 1) if tail else sums
    found: Array = run(_accumulate, parts, 1)[:, -1] + _ZEROS[rows.dtype.char]
    return found


def _in_four_lanes(columns: Array) -> Array:
    """The sums along the middle dimension, of each fourth number first."""
    n = columns.shape[1]
    whole = n // _FOUR * _FOUR
    if whole < 2 * _FOUR:
        return _down(columns.take(_turns(n), 1))
    shape = (len(columns), -1, _FOUR, columns.shape[2])
    lanes = _down(columns[:, :whole].reshape(shape))
    for at in range(whole, n):
        lanes[:, 0] += columns[:, at]
    return _down(lanes)


def _down(columns: Array) -> Array:
    """The sums along the second dimension, one number after the other."""
    found: Array = quietly.run(_reduce, columns, 1, None, None, False, 0.0)
    return found


def _columns(columns: Array, lanes: int) -> Array:
    """The sums along the middle dimension, where the last one has neighbours.

    PyTorch adds them one after the other where it takes four vectors, or four numbers, at once.
    """
    inside = columns.shape[2]
    at_once = _at_once(inside, lanes)
    whole = inside // at_once * at_once
    if not whole:
        return _in_four_lanes(columns)
    if whole == inside:
        return _down(columns)
    return np.concatenate([_down(columns[..., :whole]), _in_four_lanes(columns[..., whole:])], 1)


# -- many numbers

#: Numbers of a row that are added by one product, and rows of numbers.
_ROW, _ROWS = 256, 128
_LINE = 64  # bytes
#: Longer rows are added in parts.
_LONGEST = 2048
#: Of fewer rows numpy's sum is quicker, and as good.
_FEW_ROWS = 8


def _suits(array: Array) -> bool:
    return array.size >= LARGE and array.dtype.char in "fd" and array.flags.c_contiguous


def total(array: Array, axes: Shape | None, keepdim: bool) -> Any:
    """The sum along axes; None where numpy is to take it."""
    if not _suits(array):
        return None
    if axes is None or len(axes) == array.ndim:
        found = quietly.run(_of_row, array.reshape(-1))
        return found.reshape((1,) * array.ndim) if keepdim else found
    axis, end = min(axes), max(axes) + 1
    if end - axis != len(axes):
        return None
    n, inside = prod(array.shape[axis:end]), prod(array.shape[end:])
    if inside == 1 and 1 < n <= _LONGEST:
        found = quietly.run(np.matmul, array.reshape(-1, n), np.ones(n, array.dtype))
    elif axis == 0 and inside > 1 and n >= _FEW_ROWS:
        found = quietly.run(_of_rows, array.reshape(n, inside))
    else:
        return None
    kept = (1,) * len(axes) if keepdim else ()
    return found.reshape(array.shape[:axis] + kept + array.shape[end:])


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
    found: Array = np.add.reduce(sums if few else np.ascontiguousarray(sums.T), 1 - few)
    return found + np.add.reduce(rows[whole:], 0) if whole < n else found


def spread(array: Array, axes: Shape | None) -> tuple[Array, Array] | None:
    """The averages along axes and the sums of squared distances from them, as float64.

    The axes are kept, with sizes of 1. None where numpy is to compute them: for few numbers, and
    for those that are not all finite.
    """
    if array.size < LARGE or array.dtype.char not in "fd" or not _is_finite(array):
        return None
    axes = tuple(range(array.ndim)) if axes is None else axes
    kept = tuple([1 if dim in axes else size for dim, size in enumerate(array.shape)])
    rest = [dim for dim in range(array.ndim) if dim not in axes]
    n = array.size // prod(kept)
    rows = np.ascontiguousarray(array.transpose(*rest, *axes)).reshape(-1, n)
    with threads.active():
        found = spread_of_rows(rows) if n <= _LONGEST else _merged(rows)
    return found[0].reshape(kept), found[1].reshape(kept)


def _merged(rows: Array) -> tuple[Array, Array]:
    """The spread of long rows, from that of their parts."""
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
    """Whether all numbers are, and also their sum: then none is a nan or infinite.

    Not by BLAS, whose threads spin for a while after each call: ours would wait for a processor.
    """
    whole = array.size // _LONGEST * _LONGEST if _suits(array) else 0
    row = array.reshape(-1) if whole else array
    found = quietly.run(np.add.reduce, row[whole:], None)
    if whole:
        found = found + quietly.run(_of_rows, row[:whole].reshape(-1, _LONGEST)).sum()
    return bool(np.isfinite(found))
