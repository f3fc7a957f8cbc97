"""Windows of pooling: where they lie along each dimension, and the plans by which jobs read them.

A plane (an image, a volume, a sequence of frames) has a window for each of its results. A plan is
an array of whole numbers, told in ``thnn/pooling.lua``: windows of the same shape are a
group, which has tables of where they lie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import count, product
from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, contiguous_strides

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


#: Elements that follow each other in columns, up to which their numbers are listed, and elements of
#: a plane's columns up to which they are.
_RUN, _LISTED = 64, 8192


@dataclass(frozen=True)
class Windows:
    """The places of a kernel on images of some size: numbers for depth, height and width.

    padding: how far before the image the first window begins. count: how many places there are.
    """

    size: Sizes
    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    count: Sizes

    @classmethod
    @lru_cache(256)
    def of(
        cls,
        size: Sizes,
        kernel: Sizes,
        stride: Sizes,
        padding: Sizes,
        dilation: Sizes,
        count: Sizes,
    ) -> Windows:
        """Windows for numbers of one to three dimensions, the last one the width."""

        def fill(numbers: Sizes, missing: int) -> Sizes:
            return (missing,) * (3 - len(numbers)) + numbers

        return cls(
            fill(size, 1),
            fill(kernel, 1),
            fill(stride, 1),
            fill(padding, 0),
            fill(dilation, 1),
            fill(count, 1),
        )

    @cached_property
    def taps(self) -> int:
        """The number of places in the kernel."""
        return prod(self.kernel)

    @cached_property
    def places(self) -> int:
        """The number of places of the window."""
        return prod(self.count)

    @cached_property
    def geometry(self) -> Array:
        """The numbers as jobs take them (thnn/columns.lua)."""
        same_rows = self.size[2] == self.count[2] and self.stride[1:] == (1, 1)
        numbers = [*self.size, *self.stride, *self.count, int(same_rows), self.kernel[2], 0]
        rows_follow = self.stride[1] == self.dilation[1] == 1
        for place in product(*map(range, self.kernel)):
            first = [k * d - p for k, d, p in zip(place, self.dilation, self.padding, strict=True)]
            y, x = (self._inside(d, first[d]) for d in (1, 2))
            if x[0] == x[1]:
                y = (0, 0)
            numbers += [*first, *x, *y, int(place[1] > 0 and rows_follow)]
        run = self.count[2] * (self.count[1] if same_rows or rows_follow else 1)
        if run > _RUN or self.taps * self.places > _LISTED:
            return np.array(numbers, np.int32)
        numbers[11] = len(numbers)
        taps = np.array(numbers[12:]).reshape(-1, 8)
        return np.concatenate([numbers, *self._lists(taps, same_rows)]).astype(np.int32)

    def _lists(self, taps: Array, same_rows: bool) -> list[Array]:
        """Numbers of elements of a plane's columns and of the plane, behind where they are.

        Three lists of pairs: those that are the same; what is added to columns, and what to the
        plane then, where columns are added to it.
        """
        depth, height, width = self.count
        at = np.arange(self.taps * self.places).reshape(self.taps, *self.count)
        t, y, x = np.indices((depth, height, width))
        z, row, column = (
            i * s + taps[:, d, None, None, None]
            for d, (i, s) in enumerate(zip((t, y, x), self.stride, strict=True))
        )
        x0, x1, y0, y1 = (taps[:, i, None, None, None] for i in range(3, 7))
        inside = (z >= 0) & (z < self.size[0]) & (y >= y0) & (y < y1) & (x >= x0) & (x < x1)
        image = (z * self.size[1] + row) * self.size[2] + column
        lists = [at[inside], image[inside]]
        if same_rows:
            lists += [*np.empty((2, 0), int), *lists]
        else:  # the last rows of places go to the plane, others to the columns of the tap above
            above = (taps[:, 7, None, None, None] != 0) & np.ones(at.shape, bool)
            below, last = above & (y < height - 1), inside & (~above | (y == height - 1))
            moved = at[::-1][below[::-1]]
            up = moved - self.kernel[2] * self.places + width
            lists += [up, moved, at[::-1][last[::-1]], image[::-1][last[::-1]]]
        return [np.array([len(part) for part in lists[::2]]), *lists]

    def _inside(self, dim: int, first: int) -> tuple[int, int]:
        """The range of places of the window where what is at ``first`` in it is in the image."""
        stride, count = self.stride[dim], self.count[dim]
        start = min(max(-(first // stride), 0), count)
        stop = min((self.size[dim] - 1 - first) // stride + 1, count)
        return start, max(start, stop)
