"""Uniform numbers of [0, 1), or of another range."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.streams.loops import loops
from runtime.pytorch.streams.order import fill
from runtime.pytorch.streams.words import Words
from runtime.pytorch.tensors.memory import address_of

_LAST_24 = np.uint32(0xFFFFFF)
_TO_UNIT_FLOAT = np.float32(2.0**-24)
#: Up to so many numbers a loop takes less time than several calls of numpy's.
FEW = 1 << 10


def floats_of(drawn: Array) -> Array:
    """Floats of [0, 1): the last 24 bits of a word each."""
    values = (drawn & _LAST_24).view(np.int32).astype(np.float32)
    values *= _TO_UNIT_FLOAT
    return values


def doubles_of(drawn: Array, low: float = 0.0, high: float = 1.0) -> Array:
    """Doubles of [low, high): the last 53 bits of two words each, the first one higher."""
    values = np.empty(len(drawn) // 2, np.float64)
    loops.uniform_doubles(address_of(drawn), address_of(values), len(values), low, high)
    return values


def unit_doubles(words: Words, count: int) -> Array:
    """The next doubles of [0, 1)."""
    return doubles_of(words.take(2 * count))


def unit_floats(words: Words, count: int) -> Array:
    """The next floats of [0, 1)."""
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
    """Floats of a range; what is rounded to its end in the array's type becomes its beginning."""
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
