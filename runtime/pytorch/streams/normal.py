"""Normal numbers, made from pairs of uniform ones (Box and Muller).

Contiguous tensors of 16 elements or more are filled with uniform numbers, which are replaced
sixteen by sixteen; if their number is no multiple of 16, the last 16 are drawn anew. Other tensors
get one double after the other, and the second of a pair is kept for the next call.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.streams.loops import run
from runtime.pytorch.streams.order import blocks, fill
from runtime.pytorch.streams.uniform import unit_doubles, unit_floats
from runtime.pytorch.streams.words import Words

__all__ = ["fill_log_normal", "fill_normal", "unit_normals"]

_SIXTEEN = 16
# From so many floats on numpy's functions are used, which are ten times as fast as a loop with
# PyTorch's polynomials; their last bit differs in every fifth number.
_MANY = 1 << 16
_EIGHT_FLOATS = np.dtype("V32")
_TWO_PI, _MINUS_TWO = np.float32(2 * np.pi), np.float32(-2)


def unit_normals(words: Words, count: int) -> Array:
    """The next normal doubles with mean 0 and deviation 1, made pair by pair."""
    kept, words.kept = words.kept, None
    first = 0 if kept is None or not count else 1
    if not first:
        words.kept = kept
    pairs = (count - first + 1) // 2
    values = np.empty(first + 2 * pairs, np.float64)
    if first:
        values[0] = kept
    if pairs:
        run(b"normal", words.take(4 * pairs), values[first:], 2 * pairs)
    if len(values) > count:
        words.kept = float(values[-1])
    return values[:count]


def fill_normal(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill an array of floats with normal numbers."""
    if out.size < _SIXTEEN or not out.flags.c_contiguous:
        fill(out, lambda count: _one_by_one(words, count, mean, deviation))
    elif out.dtype == np.float64:
        _fill_doubles(words, out.reshape(-1), mean, deviation)
    else:
        _fill_floats(words, out.reshape(-1), mean, deviation)


def _one_by_one(words: Words, count: int, mean: float, deviation: float) -> Array:
    values = unit_normals(words, count)
    if (mean, deviation) != (0, 1):
        run(b"scale", values, count, deviation, mean)
    return values


def _fill_doubles(words: Words, flat: Array, mean: float, deviation: float) -> None:
    def draw(count: int) -> Array:
        values = unit_doubles(words, count)
        run(b"normal_blocks", values, count - count % _SIXTEEN, mean, deviation)
        return values

    _fill_sixteens(flat, draw, len(flat))


def _fill_floats(words: Words, flat: Array, mean: float, deviation: float) -> None:
    # PyTorch: of numbers of 16 bits, those that are drawn anew are not drawn before.
    drawn = len(flat) if flat.dtype == np.float32 else len(flat) - len(flat) % _SIXTEEN
    finish = _by_numpy if len(flat) >= _MANY else _by_polynomials
    mean, deviation = float(np.float32(mean)), float(np.float32(deviation))

    def draw(count: int) -> Array:
        values = unit_floats(words, count)
        finish(values[: count - count % _SIXTEEN], mean, deviation)
        return values

    _fill_sixteens(flat, draw, drawn)


def _fill_sixteens(flat: Array, draw: Callable[[int], Array], drawn: int) -> None:
    """Fill an array with sixteens: the first ``drawn`` numbers, then, if need be, the last 16."""
    for at in blocks(drawn):
        flat[at] = draw(at.stop - at.start)
    if len(flat) % _SIXTEEN:
        flat[-_SIXTEEN:] = draw(_SIXTEEN)


def _by_polynomials(values: Array, mean: float, deviation: float) -> None:
    run(b"normal_float_blocks", values, len(values), mean, deviation)


def _by_numpy(values: Array, mean: float, deviation: float) -> None:
    eights = values.view(_EIGHT_FLOATS)
    radius = eights[::2].copy().view(np.float32)
    np.subtract(1, radius, out=radius)
    np.log(radius, out=radius)
    radius *= _MINUS_TWO
    np.sqrt(radius, out=radius)
    radius *= np.float32(deviation)
    angle = eights[1::2].copy().view(np.float32)
    angle *= _TWO_PI
    for half, function in enumerate((np.cos, np.sin)):
        result = function(angle)
        result *= radius
        if mean:
            result += np.float32(mean)
        eights[half::2] = result.view(_EIGHT_FLOATS)


def fill_log_normal(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill an array of floats with numbers whose logarithms are normal."""

    def draw(count: int) -> Array:
        values = unit_normals(words, count)
        run(b"log_normal", values, count, mean, deviation)
        return values

    fill(out, draw)
