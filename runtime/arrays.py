"""What numpy has too, but slower."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from runtime import team
from runtime.c_functions import blas, inner_loop
from runtime.dtypes import Array
from runtime.threads import LARGE, in_parts

__all__ = [
    "add_multiple",
    "compute_flat",
    "copy_into",
    "multiply_vector",
    "take_along",
    "take_rows",
]

_PIECE = 65_536  # elements at a time, whose places stay in the cache

_LARGE_BYTES = 8 * LARGE


def compute_flat(ufunc: np.ufunc, out: Array, inputs: Sequence[Array | float]) -> bool:
    """out = ufunc(*inputs) by several threads, all flat and contiguous; False: nothing is done.

    An input may be a number where the elements are floats.
    """
    dtype = next(x.dtype for x in inputs if isinstance(x, np.ndarray))
    values = [x if isinstance(x, np.ndarray) else np.array(x, dtype) for x in inputs]
    floats = dtype.kind == "f" or all(isinstance(x, np.ndarray) for x in inputs)
    if not floats or any(x.dtype != dtype for x in values):
        return False
    found = inner_loop(ufunc, f"{dtype.char * len(values)}->{out.dtype.char}")
    if found is None:
        return False
    operands = [*values, out]
    addresses = [x.ctypes.data for x in operands]
    steps = [x.itemsize if x.ndim else 0 for x in operands]
    team.run(b"loop", len(out), *found, len(operands), *addresses, *steps)
    return True


def copy_into(out: Array, values: Array) -> None:
    """Set an array's elements to others of the same type and shape."""
    if out.nbytes < _LARGE_BYTES or np.may_share_memory(out, values):
        np.copyto(out, values)
    elif out.flags.c_contiguous and values.flags.c_contiguous:
        team.run(b"copy", out.nbytes, out.ctypes.data, values.ctypes.data)
    else:
        in_parts(lambda at: np.copyto(out[at], values[at]), len(out), large=0)


def add_multiple(r: Array, factor: float, x: Array) -> bool:
    """r += factor * x; flat and contiguous, of one floating-point type. False: nothing is done."""
    function = blas("daxpy" if r.itemsize == 8 else "saxpy")
    if function is None:
        return False
    addresses = r.ctypes.data, x.ctypes.data
    team.run(b"axpy", len(r), function, r.itemsize, *addresses, factor)
    return True


def multiply_vector(matrix: Array, vector: Array, out: Array) -> bool:
    """out = matrix @ vector, all of one floating-point type; False where nothing is done."""
    if not (matrix.flags.c_contiguous or matrix.flags.f_contiguous) or out.strides != (
        out.itemsize,
    ):
        return False
    function = blas("dgemv" if matrix.itemsize == 8 else "sgemv")
    if function is None:
        return False
    vector = np.ascontiguousarray(vector)
    addresses = (x.ctypes.data for x in (out, matrix, vector))
    steps = (step // matrix.itemsize for step in matrix.strides[::-1])
    team.run(b"gemv", len(out), function, out.itemsize, *addresses, len(vector), *steps)
    return True


def take_rows(rows: Array, at: Array, out: Array) -> None:
    """out = rows[at]; positions are from 0 and in range, all is contiguous and apart."""
    size = rows[0].nbytes
    addresses = (x.ctypes.data for x in (out, rows, at))
    team.run(b"take", len(at), *addresses, size, large=out.nbytes >= _LARGE_BYTES)


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
