"""The windows of a kernel on images: numbers for depth, height and width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Sizes

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
        """The numbers as jobs take them (lua/parallel/nn_columns.lua)."""
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
