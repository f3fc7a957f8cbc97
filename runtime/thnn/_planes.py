"""Pooling, padding and unpooling, shared out to threads plane by plane.

The loops are jobs of ``thnn/pooling.lua``. Arrays are contiguous; their elements are
those of all planes, one after the other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from th_shell.runtime.compute.c_functions import blas
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Sizes
from th_shell.runtime.thnn._jobs import run
from th_shell.runtime.thnn._windows import Plan

_TOGETHER = 2048  # elements for which planes have a table together


def _visit(job: str, windows: Plan, x: Array, y: Array, **more: float | Array) -> None:
    """Do a job about the windows of a plan, between planes x and their results y."""
    planes = y.size // windows.out_plane
    parameters: dict[str, Any] = {"plan": windows.table, "planStep": 0, "indices": 0, **more}
    run(
        job,
        planes,
        work=x.size + planes * windows.visits,
        input=x,
        output=y,
        inPlane=windows.in_plane,
        outPlane=windows.out_plane,
        **parameters,
    )


def _asum(x: Array) -> int:
    """BLAS's sum of sizes, by which jobs see whether numbers are finite."""
    return blas("asum", x.itemsize) or 0


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
    more: dict[str, Any] = {"asum": _asum(x), "indices": indices, "none": none}
    more["lowest"] = float(-np.finfo(x.dtype).max) if lowest is None else lowest
    if plans is not None:
        more |= {"plan": plans, "planStep": plans.shape[1]}
    _visit("nn_largest", plan, x, output, **more)


def average(x: Array, plan: Plan, output: Array) -> None:
    """output = the sum of each window's elements, divided by what the plan says."""
    _visit("nn_average", plan, x, output, asum=_asum(x))


def average_backward(gradient: Array, plan: Plan, grad_output: Array) -> None:
    """gradient = for each element the sum of what its windows got, divided likewise."""
    _visit("nn_share", plan, gradient, grad_output)


@lru_cache(maxsize=32)
def _starts_of_planes(in_plane: int, out_plane: int) -> tuple[int, Array]:
    """Return the number of planes that share a table, and the start of each element's plane."""
    block = -(-_TOGETHER // in_plane)
    return block, np.repeat(np.arange(block, dtype=np.int32) * out_plane, in_plane)


def scatter(
    values: Array, places: Array, planes: int, out: Array, *, add: bool, skip: bool = False
) -> None:
    """out = 0, but at the places of each plane, which count from 1, what is stored or added there.

    skip: values whose place is 0 are left out. Raises IndexError for a place outside of the plane;
    part of out is then written.
    """
    in_plane, out_plane = values.size // planes, out.size // planes
    block, starts = _starts_of_planes(in_plane, out_plane)
    run(
        "nn_scatter",
        planes,
        work=out.size,
        out=out,
        source=values,
        places=places,
        starts=starts,
        block=block,
        outPlane=out_plane,
        inPlane=in_plane,
        add=add,
        skip=skip,
        asum=_asum(out),
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
    at = indices.reshape(-1, *windows)
    numbers = zip(np.indices(windows), stride, pad, dilation, strict=True)
    t, h, w = (
        (at >> 8 * d & 0xFF) * apart + (window * step - before)
        for d, (window, step, before, apart) in enumerate(numbers)
    )
    places: Array = (t * sizes[1] + h) * sizes[2] + w + 1
    if strict:
        along = zip((t, h, w), sizes, strict=True)
        places[np.any([(x < 0) | (x >= size) for x, size in along], axis=0)] = -1
    else:
        places[places == 0] = -1
        places[t == -1] = 0
    return places.reshape(-1)


def take(values: Array, places: Array, planes: int, out: Array) -> None:
    """out = of each plane the elements at places, which count from 1.

    Raises IndexError for a place outside of the plane; part of out is then written.
    """
    run(
        "gather",
        planes,
        work=out.size,
        out=out,
        source=values,
        at=places,
        size=out.itemsize,
        placeSize=places.itemsize,
        run=out.size // planes,
        runs=1,
        block=values.size // planes,
        step=1,
        base=1,
        places=values.size // planes,
    )


def by_table(source: Array, table: Array, planes: int, out: Array, *, back: bool = False) -> None:
    """out = of each plane the elements that a table of int32 names, from 0.

    back: for each element of a plane the sum of the elements whose place it is in the table.
    """
    run(
        "nn_collect" if back else "nn_copy",
        planes,
        work=out.size + source.size,
        size=out.itemsize,
        out=out,
        source=source,
        table=table,
        outPlane=out.size // planes,
        inPlane=source.size // planes,
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
        work=output.size * places.shape[1],
        input=x,
        output=output,
        places=places,
        weights=weights,
        count=places.shape[1],
        inPlane=x.size // planes,
        outPlane=output.size // planes,
        back=back,
        asum=_asum(x),
    )
