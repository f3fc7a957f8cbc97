"""The order in which PyTorch goes through a tensor to fill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.streams.words import BLOCK, Words

Compute = Callable[[Array], Array]  # makes numbers of words


def in_order(array: Array, of: Array | None = None) -> Array:
    """A view with the dimensions in the order of memory, the smallest stride last.

    of: an array of the same shape, whose order is taken instead of the array's own.
    """
    first = array if of is None else of
    if first.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(first.ndim), key=lambda axis: -first.strides[axis]))


def fill(words: Words, out: Array, each: int, compute: Compute) -> None:
    """Set an array's elements in the order of memory to the numbers that compute makes of words.

    each: how many words a number is made of. The numbers are cast to the array's type as C does.
    """
    fill_in_turn(out, lambda count: compute(words.take(each * count)))


def fill_in_turn(out: Array, draw: Callable[[int], Array]) -> None:
    """Set an array's elements in the order of memory to draw(count), block by block."""
    ordered = in_order(out)
    halves = out.dtype == np.float16
    if out.size <= BLOCK:
        _set(ordered, ..., draw(out.size).reshape(ordered.shape), halves)
        return
    target = ordered.reshape(-1) if ordered.flags.c_contiguous else ordered.flat
    for start in range(0, out.size, BLOCK):
        stop = min(start + BLOCK, out.size)
        _set(target, slice(start, stop), draw(stop - start), halves)


def _set(target: Any, at: Any, values: Array, halves: bool) -> None:
    if halves and values.dtype == np.float64:
        # PyTorch: doubles are rounded twice on their way to 16 bits.
        values = quietly.run(values.astype, np.float32)
    quietly.run(target.__setitem__, at, values)  # no warning of numbers too large for the type
