"""The order in which PyTorch goes through a tensor to fill it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.quiet import quietly

__all__ = ["BLOCK", "blocks", "fill", "in_order"]

#: Numbers that are drawn at a time: few enough for the processor's cache.
BLOCK = 1 << 14


def in_order(array: Array, of: Array | None = None) -> Array:
    """A view with the dimensions in the order of memory, the smallest stride last.

    of: an array of the same shape, whose order is taken instead of the array's own.
    """
    first = array if of is None else of
    if first.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(first.ndim), key=lambda axis: -first.strides[axis]))


def blocks(count: int) -> Iterator[slice]:
    """The positions from 0 to count in parts of at most BLOCK."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def fill(out: Array, draw: Callable[[int], Array]) -> None:
    """Set an array's elements in the order of memory to draw(count), block by block.

    The numbers are cast to the array's type as C does.
    """
    if out.dtype == np.float16:
        draw = _through_floats(draw)
    ordered = in_order(out)
    count = out.size
    if count <= BLOCK:
        _set(ordered, ..., draw(count).reshape(ordered.shape))
        return
    if ordered.flags.c_contiguous:
        flat = ordered.reshape(-1)
        for at in blocks(count):
            _set(flat, at, draw(at.stop - at.start))
        return
    for at in blocks(count):
        _set(ordered.flat, at, draw(at.stop - at.start))


def _set(target: Any, at: Any, values: Array) -> None:
    quietly.run(target.__setitem__, at, values)  # no warning of numbers too large for the type


def _through_floats(draw: Callable[[int], Array]) -> Callable[[int], Array]:
    # PyTorch: numbers of 16 bits are made from floats, and doubles are rounded twice on the way.
    return lambda count: draw(count).astype(np.float32, copy=False)
