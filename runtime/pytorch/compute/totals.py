"""Sums, averages and variances of many numbers, quicker than numpy has them.

Numbers are added by products with ones, for which numpy calls BLAS; variances, and sums so far, are
loops of LuaJIT's, which threads share. None are taken in more than `_ROW` steps one after the
other, so that rounding errors stay small.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from runtime.compute.bulk import cumulate_rows, spread_of_rows
from runtime.compute.thread_pool import LARGE
from runtime.core.dtypes import Array
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import Shape
from runtime.pytorch.tensors.sharing import share, threads

#: Numbers of a row that are added by one product, and rows of numbers.
_ROW, _ROWS = 256, 128
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
    parts, ones = rows[:whole].reshape(count, high, width), np.ones((1, high), rows.dtype)
    sums = np.empty((count, 1, width), rows.dtype)
    share(lambda at: np.matmul(ones, parts[at], sums[at]), count, rows.size)
    # numpy adds the numbers of a row in pairs, and rows one after the other.
    few = count <= _FEW_ROWS
    found: Array = np.add.reduce(sums[:, 0] if few else np.ascontiguousarray(sums[:, 0].T), 1 - few)
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
    """Whether all numbers are, and also their sum: then none is a nan or infinite."""
    found = total(array, None, False)
    if found is None:
        found = quietly.run(np.add.reduce, array, None)
    return bool(np.isfinite(found))
