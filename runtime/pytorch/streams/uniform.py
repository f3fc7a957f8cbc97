"""Uniform numbers of [0, 1), or of another range."""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.streams.loops import run
from runtime.pytorch.streams.order import fill
from runtime.pytorch.streams.words import Words

__all__ = ["fill_uniform", "unit_doubles", "unit_floats"]

_LAST_24, _LAST_21 = np.uint32(0xFFFFFF), np.uint32(0x1FFFFF)
_TO_UNIT_FLOAT = np.float32(2.0**-24)
# The bits of the doubles 2^52 and 2^84: whole numbers below 2^32, put there, are added to them,
# in the second in units of 2^32.
_AT_52, _AT_84 = np.uint64(0x4330000000000000), np.uint64(0x4530000000000000)
_BOTH = 2.0**84 + 2.0**52
_LAST_21_LONG, _HALF = np.uint64(0x1FFFFF), np.uint64(32)


def unit_floats(words: Words, count: int) -> Array:
    """The next floats of [0, 1): the last 24 bits of a word each."""
    last = words.take(count) & _LAST_24
    values = last.view(np.int32).astype(np.float32)
    values *= _TO_UNIT_FLOAT
    return values


def unit_doubles(words: Words, count: int) -> Array:
    """The next doubles of [0, 1): the last 53 bits of two words each, the first one higher."""
    drawn = words.take(2 * count)
    if count > 64:
        return _many_doubles(drawn)
    values: Array = (drawn[::2] & _LAST_21).astype(np.float64)
    values *= 2.0**32
    values += drawn[1::2]
    values *= 2.0**-53
    return values


def _many_doubles(drawn: Array) -> Array:
    """The same for many words, without conversions, which take longer than all else."""
    pairs = np.require(drawn, requirements="A").view(np.uint64)  # the higher word is the lower half
    high = pairs & _LAST_21_LONG
    high |= _AT_84
    low = pairs >> _HALF
    low |= _AT_52
    values: Array = high.view(np.float64)
    values -= _BOTH
    values += low.view(np.float64)
    values *= 2.0**-53
    return values


def fill_uniform(words: Words, out: Array, low: float, high: float) -> None:
    """Fill an array of floats with numbers of [low, high)."""
    if out.dtype == np.float64:
        fill(out, lambda count: _double_range(unit_doubles(words, count), low, high))
        return
    fill(out, lambda count: _float_range(unit_floats(words, count), low, high, out.dtype))


def _double_range(values: Array, low: float, high: float) -> Array:
    if (low, high) == (0, 1):
        return values
    run(b"scale", values, len(values), high - low, low)
    values[values == high] = low
    return values


def _float_range(values: Array, low: float, high: float, kind: np.dtype[np.generic]) -> Array:
    """Stretch floats of [0, 1) to a range; what is rounded to its end becomes its beginning."""
    start, end = np.float32(low), np.float32(high)
    if (low, high) != (0, 1):
        # One rounding for product and sum: doubles hold the product of two floats.
        wide = values * np.float64(end - start)
        wide += np.float64(start)
        values = wide.astype(np.float32)
    elif kind == np.float32:
        return values
    values = values.astype(kind, copy=False)
    values[values == kind.type(high)] = kind.type(low)
    return values
