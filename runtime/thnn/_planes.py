"""Pooling, padding and unpooling: windows, and jobs shared out to threads plane by plane.

A plane (an image, a volume, a sequence of frames) has a window for each of its results. A plan is
an array of whole numbers, told in ``thnn/pooling.lua``, which has the jobs: windows of the same
shape are a group, which has tables of where they lie. Arrays are contiguous; their elements are
those of all planes, one after the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import count, product
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, contiguous_strides
from th_shell.runtime.thnn._jobs import find_asum, run

#: How many windows have tables together, where a plane has fewer: to begin with each plane anew
#: would take longer than what is computed.
_TOGETHER = 2048

_shape_numbers = count()

#: What an index tells of an element: "place" the one in its plane, from 1; "order" the one in its
#: window, from 0; "volume" the ones along three dimensions of the window, a byte for each.
Codes = str


@dataclass(frozen=True)
class Axis:
    """The windows along one dimension of planes; arrays have a number for each window.

    size: the elements of the dimension. starts, counts: the first element of a window in it, and
    how many elements it has, each `step` from the one before. spans: what a window counts for where
    an average is taken. skipped: how many of its elements lie in the padding in front.
    """

    size: int
    starts: Array
    counts: Array
    spans: Array
    skipped: Array
    step: int = 1

    def groups(self) -> list[tuple[int, int, int, Array]]:
        """Count, span and skipped elements that windows have in common, and their numbers."""
        shapes = np.array([self.counts, self.spans, self.skipped])
        distinct, group = np.unique(shapes, axis=1, return_inverse=True)
        return [
            (int(count), int(span), int(skipped), np.flatnonzero(group.ravel() == k))
            for k, (count, span, skipped) in enumerate(distinct.T)
        ]


def count_windows(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil: bool) -> int:
    """Count the windows along a dimension, also one that lies in the padding alone.

    Torch7: the quotient is a float of 32 bits.
    """
    room = np.float32(size - (dilation * (kernel - 1) + 1) + 2 * pad)
    quotient = float(room / np.float32(stride))
    return (math.ceil(quotient) if ceil else math.floor(quotient)) + 1


def dilated(
    size: int, windows: int, kernel: int, stride: int, pad: int, dilation: int, volume: bool = False
) -> Axis:
    """Windows of elements `dilation` apart.

    volume: the way of volumetric pooling, which loses as many elements at the end of a window as
    there is padding in front of its first one.
    """
    first = np.arange(windows) * stride - pad
    start = first + -(np.minimum(first, 0) // dilation) * dilation
    extent = np.minimum(kernel, kernel + first)
    end = np.minimum(
        size, start + extent * dilation if volume else first + (kernel - 1) * dilation + 1
    )
    counts = np.maximum(-((start - end) // dilation), 0)
    return Axis(size, start, counts, np.ones_like(start), kernel - extent, dilation)


def padded(size: int, windows: int, kernel: int, stride: int, pad: int, count_pad: bool) -> Axis:
    """Windows whose averages count the padding's elements, too, or do not."""
    first = np.arange(windows) * stride - pad
    last = np.minimum(first + kernel, size + pad)
    start, end = np.maximum(first, 0), np.minimum(last, size)
    spans = last - first if count_pad else end - start
    return Axis(size, start, np.maximum(end - start, 0), spans, np.zeros_like(start))


@dataclass(frozen=True)
class Plan:
    """The windows of a plane: a job's table, and the elements of a plane and of its results.

    visits: the elements of all its windows.
    """

    table: Array
    in_plane: int
    out_plane: int
    visits: int


def make_plan(axes: Sequence[Axis], codes: Codes = "place", together: int = _TOGETHER) -> Plan:
    """The plan for the windows that those along each dimension make."""
    sizes = tuple(axis.size for axis in axes)
    outputs = tuple(len(axis.starts) for axis in axes)
    in_plane, out_plane = math.prod(sizes), math.prod(outputs)
    block = -(-together // out_plane)
    if max(in_plane, out_plane) * block > np.iinfo(np.int32).max:  # of which tables are made
        raise TorchError(f"planes of {max(in_plane, out_plane)} elements are too large")
    groups = list(product(*[axis.groups() for axis in axes]))
    parts: list[Array | list[int]] = [[len(groups), block]]
    for group in groups:
        counts, spans, skipped, numbers = zip(*group, strict=True)
        strides = contiguous_strides(sizes)
        offsets = _sums(
            [np.arange(n) * a.step * s for n, a, s in zip(counts, axes, strides, strict=True)]
        )
        places = _sums([a.starts[n] * s for n, a, s in zip(numbers, axes, strides, strict=True)])
        outs = _sums([n * s for n, s in zip(numbers, contiguous_strides(outputs), strict=True)])
        if codes == "place":
            elements, starts = offsets, places + 1
        elif codes == "order":
            elements, starts = np.arange(len(offsets)), np.zeros_like(places)
        else:
            bytes_of = [
                (np.arange(n) + s) % 256 << shift
                for n, s, shift in zip(counts, skipped, (16, 8, 0), strict=True)
            ]
            elements, starts = _sums(bytes_of), np.zeros_like(places)
        planes = np.arange(block)
        shape = _shape_number(offsets.tobytes() + elements.tobytes())
        parts += [[len(offsets), len(places), math.prod(spans), shape], offsets, elements]
        parts += [
            np.add.outer(planes * in_plane, places).ravel(),
            np.tile(starts, block),
            np.add.outer(planes * out_plane, outs).ravel(),
        ]
    visits = math.prod(int(axis.counts.sum()) for axis in axes)
    return Plan(np.concatenate(parts).astype(np.int32), in_plane, out_plane, visits)


@lru_cache(maxsize=32)
def plan_of_places(sizes: Sizes, windows: Sizes, widths: Sizes) -> Plan:
    """A plan for windows of one size: its table lacks where they lie, which differs by plane."""
    offsets = _sums(
        [np.arange(n) * s for n, s in zip(widths, contiguous_strides(sizes), strict=True)]
    )
    count = math.prod(windows)
    head = [1, 1, len(offsets), count, 1, _shape_number(offsets.tobytes() * 2)]
    table = np.concatenate([head, offsets, offsets]).astype(np.int32)
    return Plan(table, math.prod(sizes), count, len(offsets) * count)


@lru_cache(maxsize=1024)
def _shape_number(_: bytes) -> int:
    """A number for the offsets and codes of windows, for which loops are written."""
    return next(_shape_numbers)


def _sums(arrays: Sequence[Array]) -> Array:
    """All sums of a number of each array, the last one's varying fastest."""
    sums: Array = reduce(np.add.outer, arrays)
    return sums.ravel()


# -- jobs


_TABLED = 2048  # elements for which planes have a table together


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
    more: dict[str, Any] = {"asum": find_asum(x), "indices": indices, "none": none}
    more["lowest"] = float(-np.finfo(x.dtype).max) if lowest is None else lowest
    if plans is not None:
        more |= {"plan": plans, "planStep": plans.shape[1]}
    _visit("nn_largest", plan, x, output, **more)


def average(x: Array, plan: Plan, output: Array) -> None:
    """output = the sum of each window's elements, divided by what the plan says."""
    _visit("nn_average", plan, x, output, asum=find_asum(x))


def average_backward(gradient: Array, plan: Plan, grad_output: Array) -> None:
    """gradient = for each element the sum of what its windows got, divided likewise."""
    _visit("nn_share", plan, gradient, grad_output)


@lru_cache(maxsize=32)
def _starts_of_planes(in_plane: int, out_plane: int) -> tuple[int, Array]:
    """Return the number of planes that share a table, and the start of each element's plane."""
    block = -(-_TABLED // in_plane)
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
        asum=find_asum(out),
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
        asum=find_asum(x),
    )
