"""Normal numbers, made from pairs of uniform ones (Box and Muller).

Contiguous tensors of 16 elements or more are filled with uniform numbers, which are replaced
sixteen by sixteen; if their number is no multiple of 16, the last 16 are drawn anew. Other tensors
get one double after the other, and the second of a pair is kept for the next call.
"""

from __future__ import annotations

import numpy as np

from runtime.compute.thread_pool import LARGE
from runtime.core.dtypes import Array
from runtime.pytorch.compute.sums import FEW
from runtime.pytorch.streams.uniform import doubles_of, fill, fill_in_turn, floats_of, loops
from runtime.pytorch.streams.words import Words
from runtime.pytorch.tensors.memory import address_of

_SIXTEEN = 16
# From so many floats on numpy's functions are used, which are ten times as fast as a loop with
# PyTorch's polynomials; the last bit of every fifth number or so is another one then.
_EIGHT_FLOATS = np.dtype("V32")
_TWO_PI, _MINUS_TWO = np.float32(2 * np.pi), np.float32(-2)


def _fill_in_pairs(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill a contiguous array of floats or doubles."""
    count = out.size
    if not count:
        return
    kept = words.kept
    new = count if kept is None else count - 1
    loop = loops.normal_doubles if out.itemsize == 8 else loops.normal_floats
    address = words.address(2 * (new + new % 2))
    words.kept = loop(address, address_of(out), count, mean, deviation, kept)


def fill_normal(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill an array of floats with normal numbers."""
    contiguous = out.flags.c_contiguous
    if contiguous and out.size >= _SIXTEEN:
        if out.itemsize < 8 and (mean, deviation) != (0, 1):
            mean, deviation = float(np.float32(mean)), float(np.float32(deviation))
        if out.size <= FEW and out.itemsize > 2:
            _fill_few_sixteens(words, out, mean, deviation)
        else:
            _fill_sixteens(words, out.reshape(-1), mean, deviation)
    elif contiguous and out.itemsize > 2:
        _fill_in_pairs(words, out, mean, deviation)
    else:
        fill_in_turn(out, lambda count: _draw_in_pairs(words, count, mean, deviation))


def _draw_in_pairs(words: Words, count: int, mean: float, deviation: float) -> Array:
    """The next normal doubles."""
    values = np.empty(count, np.float64)
    _fill_in_pairs(words, values, mean, deviation)
    return values


def _fill_few_sixteens(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill a contiguous array of any shape in one call, as `_fill_sixteens` fills a vector."""
    count = out.size
    drawn = count + _SIXTEEN if count % _SIXTEEN else count
    is_double = out.itemsize == 8
    loop = loops.sixteens_doubles if is_double else loops.sixteens_floats
    address = words.address(2 * drawn if is_double else drawn)
    loop(address, address_of(out), count, mean, deviation)


def _fill_sixteens(words: Words, flat: Array, mean: float, deviation: float) -> None:
    """Fill a vector: all sixteens; then, if its length is no multiple of 16, the last 16 anew."""
    count, width = len(flat), flat.itemsize
    rest = count % _SIXTEEN
    transform = _by_numpy if width < 8 and count >= LARGE else _by_loop
    uniform, each = (doubles_of, 2) if width == 8 else (floats_of, 1)

    def compute(drawn: Array) -> Array:
        values = uniform(drawn)
        transform(values, mean, deviation)
        return values

    # PyTorch: of numbers of 16 bits, those that are drawn anew are not drawn before.
    fill(words, flat[: count - rest] if width == 2 else flat, each, compute)
    if rest:
        fill(words, flat[-_SIXTEEN:], each, compute)


def _by_loop(values: Array, mean: float, deviation: float) -> None:
    """Turn all sixteens of uniform numbers into normal ones."""
    loop = loops.normal_blocks if values.itemsize == 8 else loops.normal_float_blocks
    loop(address_of(values), len(values) & -_SIXTEEN, mean, deviation)


def _by_numpy(values: Array, mean: float, deviation: float) -> None:
    """Turn all sixteens of uniform floats into normal ones, with numpy's functions."""
    eights = values[: len(values) & -_SIXTEEN].view(_EIGHT_FLOATS)
    radius = eights[::2].copy().view(np.float32)
    np.subtract(1, radius, out=radius)
    np.log(radius, out=radius)
    radius *= _MINUS_TWO
    np.sqrt(radius, out=radius)
    angle = eights[1::2].copy().view(np.float32)
    angle *= _TWO_PI
    for half, function in enumerate((np.cos, np.sin)):
        result = function(angle)
        result *= radius
        if (mean, deviation) != (0, 1):
            result *= np.float32(deviation)
            result += np.float32(mean)
        eights[half::2] = result.view(_EIGHT_FLOATS)


def fill_log_normal(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill an array of floats with numbers whose logarithms are normal."""

    def draw(count: int) -> Array:
        values = _draw_in_pairs(words, count, 0.0, 1.0)
        loops.log_normal(address_of(values), count, mean, deviation)
        return values

    fill_in_turn(out, draw)
