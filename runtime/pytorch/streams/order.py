"""The order in which PyTorch goes through a tensor to fill it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.streams.words import BLOCK, Words

Compute = Callable[[Array], Array]  # makes numbers of words
Finish = Callable[[slice, Array], None]  # makes the numbers at some positions of their words


def in_order(array: Array, of: Array | None = None) -> Array:
    """A view with the dimensions in the order of memory, the smallest stride last.

    of: an array of the same shape, whose order is taken instead of the array's own.
    """
    first = array if of is None else of
    if first.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(first.ndim), key=lambda axis: -first.strides[axis]))


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def deal(words: Words, count: int, each: int, finish: Finish) -> None:
    """Call finish for consecutive positions, from 0 to count in all, and for their words.

    each: how many words a number is made of.
    """
    for at in _blocks(count):
        finish(at, words.take(each * (at.stop - at.start)))


def fill(words: Words, out: Array, each: int, compute: Compute) -> None:
    """Set an array's elements in the order of memory to the numbers that compute makes of words.

    each: how many words a number is made of. The numbers are cast to the array's type as C does.
    """
    ordered = in_order(out)
    target = ordered.reshape(-1) if ordered.flags.c_contiguous else ordered.flat
    halves = out.dtype == np.float16

    def finish(at: slice, drawn: Array) -> None:
        _set(target, at, compute(drawn), halves)

    if out.size <= BLOCK:
        _set(ordered, ..., compute(words.take(each * out.size)).reshape(ordered.shape), halves)
    else:
        deal(words, out.size, each, finish)


def fill_in_turn(out: Array, draw: Callable[[int], Array]) -> None:
    """Set an array's elements in the order of memory to draw(count), block by block."""
    ordered = in_order(out)
    halves = out.dtype == np.float16
    if out.size <= BLOCK:
        _set(ordered, ..., draw(out.size).reshape(ordered.shape), halves)
        return
    for at in _blocks(out.size):
        _set(ordered.flat, at, draw(at.stop - at.start), halves)


def _set(target: Any, at: Any, values: Array, halves: bool) -> None:
    if halves and values.dtype == np.float64:
        # PyTorch: doubles are rounded twice on their way to 16 bits.
        values = quietly.run(values.astype, np.float32)
    quietly.run(target.__setitem__, at, values)  # no warning of numbers too large for the type
