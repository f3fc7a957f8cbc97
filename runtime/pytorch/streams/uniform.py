"""Uniform numbers, of [0, 1), of another range, or whole; and how numbers fill an array.

PyTorch fills tensors in the order of memory. LuaJIT's loops of draws are loaded with the first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.torch.base.quiet import quietly
from th_shell.torch.compute.reductions import FEW
from th_shell.torch.streams.words import BLOCK, Words


class _Loops:
    """The loops, by name."""

    def __init__(self) -> None:
        self._left: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        from th_shell.runtime.compute.luajit import draw_functions

        self.__dict__.update({n.decode(): loop for n, loop in draw_functions().items()})
        return self.__dict__[name]

    def begin_after_fork(self) -> None:
        """Leave the Lua state: a thread that is gone may have been at work in it."""
        left = [*self._left, dict(self.__dict__)]
        self.__dict__.clear()
        self._left = left


loops = _Loops()
os.register_at_fork(after_in_child=loops.begin_after_fork)


Compute = Callable[[Array], Array]  # makes numbers of words


def in_order(array: Array, of: Array | None = None) -> Array:
    """Return a view with the dimensions in the order of memory, the smallest stride last.

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


_LAST_24 = np.uint32(0xFFFFFF)
_TO_UNIT_FLOAT = np.float32(2.0**-24)


def floats_of(drawn: Array) -> Array:
    """Return floats of [0, 1): the last 24 bits of a word each."""
    values = (drawn & _LAST_24).view(np.int32).astype(np.float32)
    values *= _TO_UNIT_FLOAT
    return values


def doubles_of(drawn: Array, low: float = 0.0, high: float = 1.0) -> Array:
    """Return doubles of [low, high): the last 53 bits of two words each, the first one higher."""
    values = np.empty(len(drawn) // 2, np.float64)
    loops.uniform_doubles(address_of(drawn), address_of(values), len(values), low, high)
    return values


def unit_doubles(words: Words, count: int) -> Array:
    """Return the next doubles of [0, 1)."""
    return doubles_of(words.take(2 * count))


def unit_floats(words: Words, count: int) -> Array:
    """Return the next floats of [0, 1)."""
    return floats_of(words.take(count))


def fill_uniform(words: Words, out: Array, low: float, high: float) -> None:
    """Fill an array of floats with numbers of [low, high)."""
    count, width = out.size, out.itemsize
    if width == 2 or count > FEW or not out.flags.c_contiguous:
        if width == 8:
            fill(words, out, 2, lambda drawn: doubles_of(drawn, low, high))
        else:
            fill(words, out, 1, lambda drawn: _floats_between(drawn, low, high, out.dtype))
    elif width == 8:
        loops.uniform_doubles(words.address(2 * count), address_of(out), count, low, high)
    else:
        loops.uniform_floats(words.address(count), address_of(out), count, low, high)


def _floats_between(drawn: Array, low: float, high: float, kind: np.dtype[Any]) -> Array:
    """Return floats of a range; those that the type rounds to its end become its start."""
    values = floats_of(drawn)
    if (low, high) == (0, 1) and kind == np.float32:
        return values
    start, end = np.float32(low), np.float32(high)
    # One rounding for product and sum: doubles hold the product of two floats.
    wide = values.astype(np.float64)
    wide *= np.float64(end - start)
    wide += np.float64(start)
    values = wide.astype(np.float32).astype(kind, copy=False)
    values[values == kind.type(high)] = kind.type(low)
    return values


#: From this many possible numbers on, each is made of two words.
_WIDE = 1 << 28
_32 = np.uint64(32)
_EXACT = 1 << 52  # doubles have all whole numbers up to this one


def _longs(drawn: Array) -> Array:
    """Return numbers of 64 bits, of two words each, the first one higher."""
    values = drawn[::2].astype(np.uint64)
    values <<= _32
    values |= drawn[1::2]
    return values


def _remainders(numbers: Array, divisor: np.unsignedinteger[Any]) -> Array:
    # numpy's % takes several times as long.
    quotients: Array = numbers // divisor
    quotients *= divisor
    np.subtract(numbers, quotients, out=quotients)
    return quotients


def fill_whole(words: Words, out: Array, first: int, count: int) -> None:
    """Fill an array with whole numbers from first to first + count - 1; count is at most 2^64."""
    least = np.int64(first)
    if count == 1 << 64:
        fill(words, out, 2, lambda drawn: _longs(drawn).view(np.int64))
        return
    if count >= _WIDE:
        wide = np.uint64(count)
        fill(words, out, 2, lambda drawn: _remainders(_longs(drawn), wide).view(np.int64) + least)
        return
    if out.size <= FEW and out.dtype == np.int64 and out.flags.c_contiguous and abs(first) < _EXACT:
        loops.whole(words.address(out.size), address_of(out), out.size, first, count)
        return
    narrow = np.uint32(count)
    if first:
        fill(words, out, 1, lambda drawn: _remainders(drawn, narrow).astype(np.int64) + least)
    else:
        fill(words, out, 1, lambda drawn: _remainders(drawn, narrow))


def permutation(words: Words, count: int) -> Array:
    """Return the numbers 0 to count - 1 in random order, as int64."""
    values = np.arange(count, dtype=np.int64)
    for start in range(0, count - 1, BLOCK):
        left = np.arange(count - start, max(count - start - BLOCK, 1), -1, dtype=np.uint32)
        distances = (words.take(len(left)) % left).astype(np.int64)
        loops.shuffle(address_of(values), address_of(distances), start, len(left))
    return values
