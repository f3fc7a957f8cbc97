"""What numpy has too, but slower."""

from __future__ import annotations

import math

import numpy as np

from runtime.dtypes import Array
from runtime.threads import LARGE, in_parts

__all__ = ["take_along"]

_PIECE = 65_536  # elements at a time, whose places stay in the cache


def take_along(values: Array, at: Array, dim: int, out: Array | None = None) -> Array:
    """values at positions (from 0, in range) along one dimension; the other sizes are the same.

    As numpy's take_along_axis, which takes three times as long.
    out: where to, contiguous and apart from values; by default new memory.
    """
    if out is None:
        out = np.empty(at.shape, values.dtype)
    if not values.flags.c_contiguous:
        out[...] = np.take_along_axis(values, at, dim)
        return out
    if not at.size:
        return out
    step = math.prod(values.shape[dim + 1 :])
    count, block = at.shape[dim], values.shape[dim] * step
    flat, columns = values.reshape(-1), np.arange(step)
    rows, result = at.reshape(-1, step), out.reshape(-1, step)

    def part(which: slice) -> None:
        places = np.multiply(rows[which], step, dtype=np.int64)
        places += columns
        places += (np.arange(which.start, which.stop) // count * block)[:, None]
        # The positions are in range: clipping only spares numpy a copy of the result.
        np.take(flat, places, out=result[which], mode="clip")

    in_parts(part, len(rows), piece=max(_PIECE // step, 1), large=max(LARGE // step, 1))
    return out
