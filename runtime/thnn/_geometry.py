"""Where the windows of a kernel lie on images: numbers for depth, height and width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Sizes

__all__ = ["Windows"]


@dataclass(frozen=True)
class Windows:
    """Where a kernel lies on images of some size: numbers for depth, height and width.

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
        """The same for numbers of fewer dimensions, the last one the width."""

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
        """The numbers as jobs take them (lua/parallel/nn_convolution.lua)."""
        same_rows = self.size[2] == self.count[2] and self.stride[1:] == (1, 1)
        numbers = [*self.size, *self.stride, *self.count, int(same_rows), self.kernel[2]]
        for place in product(*map(range, self.kernel)):
            first = [k * d - p for k, d, p in zip(place, self.dilation, self.padding, strict=True)]
            y, x = (self._inside(d, first[d]) for d in (1, 2))
            if x[0] == x[1]:
                y = (0, 0)
            same_as_above = place[1] > 0 and self.stride[1] == self.dilation[1] == 1
            numbers += [*first, *x, *y, int(same_as_above)]
        return np.array(numbers, np.int32)

    @cached_property
    def address(self) -> int:
        """Where `geometry` is in memory."""
        return self.geometry.ctypes.data

    def _inside(self, dim: int, first: int) -> tuple[int, int]:
        """The range of places of the window where what is at ``first`` in it is in the image."""
        stride, count = self.stride[dim], self.count[dim]
        start = min(max(-(first // stride), 0), count)
        stop = min((self.size[dim] - 1 - first) // stride + 1, count)
        return start, max(start, stop)
