"""What layers of pooling, padding and unpooling compute, shared out to threads plane by plane.

The loops are jobs of ``lua/parallel/nn_pooling.lua``. Arrays are contiguous; their elements are
those of all planes, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from runtime.compute import thread_pool
from runtime.compute.c_functions import blas
from runtime.core.dtypes import Array
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._windows import Plan

__all__ = [
    "add_by_table",
    "average",
    "average_backward",
    "contiguous",
    "copy_by_table",
    "find_largest",
    "result",
    "scatter",
    "interpolate",
]

_LARGE = 20_000  # elements from which on threads pay
_TOGETHER = 2048  # elements for which planes have a table together


def contiguous(tensor: Tensor, count: int | None = None) -> Array:
    """The first elements of a tensor in order, one-dimensional, and side by side in memory."""
    return np.ascontiguousarray(tensor.flat[:count])


@contextmanager
def result(tensor: Tensor, sizes: Sizes) -> Iterator[Array]:
    """Resize a tensor, and let its elements be written, as a contiguous array."""
    tensor.resize(sizes)
    values = tensor.flat
    if values.flags.c_contiguous and tensor.is_contiguous:
        yield values
    else:
        values = np.empty(tensor.nelement, values.dtype)
        yield values
        tensor.array[...] = values.reshape(sizes)


def find_largest(
    x: Array,
    plan: Plan,
    output: Array,
    indices: Array,
    *,
    lowest: float | None = None,
    none: int = 0,
    plans: Array | None = None,
) -> None:
    """output = the largest element of each window, indices where it is.

    Where no element is greater than `lowest`, which nans are not, this is the output, and the index
    is `none`. lowest: by default the lowest finite number. plans: a row for each plane, if not all
    have the same.
    """
    thread_pool.run(
        "nn_largest",
        len(output) // plan.out_plane,
        large=x.size >= _LARGE,
        lowest=float(-np.finfo(x.dtype).max) if lowest is None else lowest,
        none=none,
        indices=indices.ctypes.data,
        plan=(plan.table if plans is None else plans).ctypes.data,
        planStep=0 if plans is None else plans.shape[1],
        asum=blas("asum", x.itemsize) or 0,
        size=x.itemsize,
        input=x.ctypes.data,
        output=output.ctypes.data,
        inPlane=plan.in_plane,
        outPlane=plan.out_plane,
    )


def average(x: Array, plan: Plan, output: Array) -> None:
    """output = the sum of each window's elements, divided by what the plan says."""
    thread_pool.run(
        "nn_average",
        len(output) // plan.out_plane,
        large=x.size >= _LARGE,
        plan=plan.table.ctypes.data,
        planStep=0,
        indices=0,
        asum=blas("asum", x.itemsize) or 0,
        size=x.itemsize,
        input=x.ctypes.data,
        output=output.ctypes.data,
        inPlane=plan.in_plane,
        outPlane=plan.out_plane,
    )


def average_backward(gradient: Array, plan: Plan, grad_output: Array) -> None:
    """gradient = for each element the sum of what its windows got, divided likewise."""
    thread_pool.run(
        "nn_share",
        len(grad_output) // plan.out_plane,
        large=gradient.size >= _LARGE,
        plan=plan.table.ctypes.data,
        planStep=0,
        indices=0,
        size=gradient.itemsize,
        input=gradient.ctypes.data,
        output=grad_output.ctypes.data,
        inPlane=plan.in_plane,
        outPlane=plan.out_plane,
    )


@lru_cache(maxsize=32)
def _starts_of_planes(in_plane: int, out_plane: int) -> tuple[int, Array]:
    """How many planes have a table together, and where each of their elements' planes begins."""
    block = -(-_TOGETHER // in_plane)
    return block, np.repeat(np.arange(block, dtype=np.int32) * out_plane, in_plane)


def scatter(
    values: Array, places: Array, planes: int, out: Array, *, add: bool, skip: bool = False
) -> None:
    """out = 0, but at the places of each plane, which count from 1, what is stored or added there.

    skip: values whose place is 0 are left out. Raises IndexError for a place outside of the plane;
    part of out is then written.
    """
    in_plane, out_plane = len(values) // planes, len(out) // planes
    block, starts = _starts_of_planes(in_plane, out_plane)
    try:
        thread_pool.run(
            "nn_scatter",
            planes,
            large=out.size >= _LARGE,
            size=out.itemsize,
            out=out.ctypes.data,
            source=values.ctypes.data,
            places=places.ctypes.data,
            starts=starts.ctypes.data,
            block=block,
            outPlane=out_plane,
            inPlane=in_plane,
            add=add,
            skip=skip,
            asum=blas("asum", out.itemsize) or 0,
        )
    except Exception as error:  # Lua's; its class is the engine's matter
        if "position out of range" in str(error):
            raise IndexError("position out of range") from None
        raise


def copy_by_table(x: Array, table: Array, planes: int, out: Array) -> None:
    """out = of each plane the elements that a table of int32 names, from 0."""
    _by_table("nn_copy", x, table, planes, out)


def add_by_table(values: Array, table: Array, planes: int, out: Array) -> None:
    """out = for each element of a plane the sum of the values whose place it is in the table."""
    _by_table("nn_collect", values, table, planes, out)


def _by_table(job: str, source: Array, table: Array, planes: int, out: Array) -> None:
    thread_pool.run(
        job,
        planes,
        large=out.size + source.size >= _LARGE,
        size=out.itemsize,
        out=out.ctypes.data,
        source=source.ctypes.data,
        table=table.ctypes.data,
        outPlane=len(out) // planes,
        inPlane=len(source) // planes,
    )


def interpolate(
    x: Array, places: Array, weights: Array, planes: int, output: Array, *, back: bool = False
) -> None:
    """output = for each row of places (int32) the sum of weights times the elements of x there.

    back: the gradient, which goes to x.
    """
    thread_pool.run(
        "nn_interpolate",
        planes,
        large=output.size >= _LARGE,
        size=x.itemsize,
        input=x.ctypes.data,
        output=output.ctypes.data,
        places=places.ctypes.data,
        weights=weights.ctypes.data,
        count=places.shape[1],
        inPlane=len(x) // planes,
        outPlane=len(output) // planes,
        back=back,
    )
