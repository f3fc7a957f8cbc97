"""Sums of multiples of rows: target[to] += values * source[at], for many rows in their order."""

from __future__ import annotations

import numpy as np

from runtime.compute.c_functions import blas
from runtime.compute.thread_pool import run
from runtime.core.dtypes import Array

_LARGE = 1_000_000  # multiplications from which on threads gain time
_LONG = 64  # elements of rows that are worth cutting


def add_rows(target: Array, to: Array, source: Array, at: Array, values: Array) -> None:
    """Add multiples of rows of a matrix to rows of another one, one row after the other.

    to, at: the numbers of the rows, in range. The matrices are of one floating-point type, and do
    not overlap; their strides are positive multiples of an element's size.
    """
    size, length = target.itemsize, target.shape[1]
    function = blas("axpy", size)
    if function is None or not len(to):
        for i, row in enumerate(to):
            target[row] += values[i] * source[at[i]]
        return
    to = to.astype(np.int64) * (target.strides[0] // size)
    at = at.astype(np.int64) * (source.strides[0] // size)
    values = np.ascontiguousarray(values, np.float64)
    run(
        "axpys",
        length,
        large=length >= _LONG and length * len(to) >= _LARGE,
        run=function,
        size=size,
        count=len(to),
        target=target.ctypes.data,
        to=to.ctypes.data,
        toStep=target.strides[1] // size,
        source=source.ctypes.data,
        **{"from": at.ctypes.data},
        fromStep=source.strides[1] // size,
        values=values.ctypes.data,
    )
