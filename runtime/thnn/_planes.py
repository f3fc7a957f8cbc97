"""What layers of pooling, padding and unpooling compute, shared out to threads plane by plane.

The loops are jobs of ``lua/parallel/nn_pooling.lua``. Arrays are contiguous; their elements are
those of all planes, one after the other.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from runtime.compute.c_functions import blas
from runtime.core.dtypes import Array
from runtime.core.tensor import Sizes
from runtime.thnn._jobs import run, working
from runtime.thnn._windows import Plan

_LARGE = 100_000  # elements, each as often as it is looked at, from which on threads pay
_TOGETHER = 2048  # elements for which planes have a table together


def _is_large(x: Array, plan: Plan) -> bool:
    return x.size + x.size // plan.in_plane * plan.visits >= _LARGE


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
    run(
        "nn_largest",
        len(output) // plan.out_plane,
        large=_is_large(x, plan),
        lowest=float(-np.finfo(x.dtype).max) if lowest is None else lowest,
        none=none,
        indices=indices,
        plan=plan.table if plans is None else plans,
        planStep=0 if plans is None else plans.shape[1],
        asum=blas("asum", x.itemsize) or 0,
        size=x.itemsize,
        input=x,
        output=output,
        inPlane=plan.in_plane,
        outPlane=plan.out_plane,
    )


def average(x: Array, plan: Plan, output: Array) -> None:
    """output = the sum of each window's elements, divided by what the plan says."""
    run(
        "nn_average",
        len(output) // plan.out_plane,
        large=_is_large(x, plan),
        plan=plan.table,
        planStep=0,
        indices=0,
        asum=blas("asum", x.itemsize) or 0,
        size=x.itemsize,
        input=x,
        output=output,
        inPlane=plan.in_plane,
        outPlane=plan.out_plane,
    )


def average_backward(gradient: Array, plan: Plan, grad_output: Array) -> None:
    """gradient = for each element the sum of what its windows got, divided likewise."""
    run(
        "nn_share",
        len(grad_output) // plan.out_plane,
        large=_is_large(gradient, plan),
        plan=plan.table,
        planStep=0,
        indices=0,
        size=gradient.itemsize,
        input=gradient,
        output=grad_output,
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
    run(
        "nn_scatter",
        planes,
        large=out.size >= _LARGE,
        size=out.itemsize,
        out=out,
        source=values,
        places=places,
        starts=starts,
        block=block,
        outPlane=out_plane,
        inPlane=in_plane,
        add=add,
        skip=skip,
        asum=blas("asum", out.itemsize) or 0,
    )


def places_in_volume(
    indices: Array,
    sizes: Sizes,
    windows: Sizes,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes = (1, 1, 1),
    *,
    strict: bool = False,
) -> Array:
    """The places in volumes, from 1, of the elements that indices tell in the windows of each.

    The three lowest bytes of an index are for time, height and width. 0 for what begins one before
    the first element in time, which the reference leaves out; below 0 what is not in a volume.
    strict: -1 for what is outside in any dimension, and 0 for nothing.
    """
    places = working(len(indices), np.int64)
    run(
        "nn_volume_places",
        len(indices),
        out=places,
        source=indices,
        starts=_starts_in_volume(windows, stride, pad),
        count=math.prod(windows),
        apart=dilation,
        sizes=sizes,
        strict=strict,
    )
    return places


@lru_cache(maxsize=32)
def _starts_in_volume(windows: Sizes, stride: Sizes, pad: Sizes) -> Array:
    """Where each window begins along time, along height, and along width."""
    along = [np.arange(n) * d - p for n, d, p in zip(windows, stride, pad, strict=True)]
    return np.array(np.meshgrid(*along, indexing="ij"), np.float64).reshape(3, -1)


def take(values: Array, places: Array, planes: int, out: Array) -> None:
    """out = of each plane the elements at places, which count from 1.

    Raises IndexError for a place outside of the plane; part of out is then written.
    """
    run(
        "gather",
        planes,
        large=out.size >= _LARGE,
        out=out,
        source=values,
        at=places,
        size=out.itemsize,
        placeSize=places.itemsize,
        run=len(out) // planes,
        runs=1,
        block=len(values) // planes,
        step=1,
        base=1,
        places=len(values) // planes,
    )


def copy_by_table(x: Array, table: Array, planes: int, out: Array) -> None:
    """out = of each plane the elements that a table of int32 names, from 0."""
    _by_table("nn_copy", x, table, planes, out)


def add_by_table(values: Array, table: Array, planes: int, out: Array) -> None:
    """out = for each element of a plane the sum of the values whose place it is in the table."""
    _by_table("nn_collect", values, table, planes, out)


def _by_table(job: str, source: Array, table: Array, planes: int, out: Array) -> None:
    run(
        job,
        planes,
        large=out.size + source.size >= _LARGE,
        size=out.itemsize,
        out=out,
        source=source,
        table=table,
        outPlane=len(out) // planes,
        inPlane=len(source) // planes,
    )


def interpolate(
    x: Array, places: Array, weights: Array, planes: int, output: Array, *, back: bool = False
) -> None:
    """output = for each row of places (int32) the sum of weights times the elements of x there.

    back: the gradient, which goes to x.
    """
    run(
        "nn_interpolate",
        planes,
        large=output.size * places.shape[1] >= _LARGE,
        size=x.itemsize,
        input=x,
        output=output,
        places=places,
        weights=weights,
        count=places.shape[1],
        inPlane=len(x) // planes,
        outPlane=len(output) // planes,
        back=back,
        asum=blas("asum", x.itemsize) or 0,
    )
