"""Random whole numbers, and permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.compute.sums import FEW
from runtime.pytorch.streams.uniform import fill, loops
from runtime.pytorch.streams.words import BLOCK, Words
from runtime.pytorch.tensors.memory import address_of

#: From this many possible numbers on, each is made of two words.
_WIDE = 1 << 28
#: From this many elements on, permutations are made of two words for each.
_LONG = 0xFFFFFFFF // 20
_32 = np.uint64(32)
_EXACT = 1 << 52  # doubles have all whole numbers up to this one


def _longs(drawn: Array) -> Array:
    """Numbers of 64 bits, of two words each, the first one higher."""
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
    """Fill an array with whole numbers from first to first + count - 1; count is below 2^64."""
    least = np.int64(first)
    if count >= _WIDE:
        wide = np.uint64(count)
        fill(words, out, 2, lambda drawn: _remainders(_longs(drawn), wide).view(np.int64) + least)
        return
    if out.size <= FEW and _is_simple(out) and abs(first) < _EXACT:
        loops.whole(words.address(out.size), address_of(out), out.size, first, count)
        return
    narrow = np.uint32(count)
    if first:
        fill(words, out, 1, lambda drawn: _remainders(drawn, narrow).astype(np.int64) + least)
    else:
        fill(words, out, 1, lambda drawn: _remainders(drawn, narrow))


def _is_simple(out: Array) -> bool:
    return out.dtype == np.int64 and out.flags.c_contiguous


def fill_natural(words: Words, out: Array) -> None:
    """Fill an array with whole numbers from 0 to the greatest of its type.

    For floats that is the greatest before which there is no gap: 2^24 for 32 bits.
    """
    kind = out.dtype
    if kind.kind == "f":
        limit = (1 << (np.finfo(kind).nmant + 1)) + 1
    else:
        limit = 2 if kind.kind == "b" else int(np.iinfo(kind).max) + 1
    if kind.itemsize == 8:
        fill(words, out, 2, lambda drawn: _remainders(_longs(drawn), np.uint64(limit)))
    else:
        fill(words, out, 1, lambda drawn: _remainders(drawn, np.uint32(limit)))


def fill_all_longs(words: Words, out: Array) -> None:
    """Fill an array with any whole numbers of 64 bits, as they are with a sign."""
    fill(words, out, 2, lambda drawn: _longs(drawn).view(np.int64))


def permutation(words: Words, count: int) -> Array:
    """The numbers 0 to count - 1 in random order, as int64."""
    if count >= _LONG:
        return _long_permutation(words, count)
    values = np.arange(count, dtype=np.int64)
    for start in range(0, count - 1, BLOCK):
        left = np.arange(count - start, max(count - start - BLOCK, 1), -1, dtype=np.uint32)
        distances = (words.take(len(left)) % left).astype(np.int64)
        loops.shuffle(address_of(values), address_of(distances), start, len(left))
    return values


def _long_permutation(words: Words, count: int) -> Array:
    values = np.empty(count, np.int64)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        places = _longs(words.take(2 * (stop - start))) % np.arange(
            start + 1, stop + 1, dtype=np.uint64
        )
        loops.insert(address_of(values), address_of(places), start, stop - start)
    return values
