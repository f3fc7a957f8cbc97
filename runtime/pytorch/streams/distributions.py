"""Normal numbers and those of other distributions, and draws by given probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.torch.base.quiet import calmly
from th_shell.torch.compute.reductions import FEW
from th_shell.torch.streams.uniform import (
    doubles_of,
    fill,
    fill_in_turn,
    floats_of,
    in_order,
    loops,
    unit_doubles,
    unit_floats,
)
from th_shell.torch.streams.words import Words

#: PyTorch makes sixteen normal numbers at once: eight radii and eight angles.
_SIXTEEN = 16
_EIGHT_FLOATS = np.dtype("V32")
_TWO_PI, _MINUS_TWO = np.float32(2 * np.pi), np.float32(-2)


def _fill_in_pairs(words: Words, out: Array, mean: float, deviation: float) -> None:
    """Fill a contiguous array of floats or doubles."""
    count = out.size
    if not count:
        return
    spare = words.spare
    new = count if spare is None else count - 1
    loop = loops.normal_doubles if out.itemsize == 8 else loops.normal_floats
    address = words.address(2 * (new + new % 2))
    words.spare = loop(address, address_of(out), count, mean, deviation, spare)


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
    """Return the next normal doubles."""
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
    remainder = count % _SIXTEEN
    transform = _by_numpy if width < 8 and count >= LARGE else _by_loop
    uniform, each = (doubles_of, 2) if width == 8 else (floats_of, 1)

    def compute(drawn: Array) -> Array:
        values = uniform(drawn)
        transform(values, mean, deviation)
        return values

    # PyTorch: of numbers of 16 bits, those that are drawn anew are not drawn before.
    fill(words, flat[: count - remainder] if width == 2 else flat, each, compute)
    if remainder:
        fill(words, flat[-_SIXTEEN:], each, compute)


def _by_loop(values: Array, mean: float, deviation: float) -> None:
    """Turn all sixteens of uniform numbers into normal ones."""
    loop = loops.normal_blocks if values.itemsize == 8 else loops.normal_float_blocks
    loop(address_of(values), len(values) & -_SIXTEEN, mean, deviation)


def _by_numpy(values: Array, mean: float, deviation: float) -> None:
    """Turn all sixteens of uniform floats into normal ones, with numpy's functions.

    They are several times as fast as the loop, and may give another last bit.
    """
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


def fill_from_uniform(words: Words, out: Array, transform: Callable[[Array], Array]) -> None:
    """Fill an array with the values of a function of uniform doubles of [0, 1)."""
    fill(words, out, 2, lambda drawn: calmly(transform, doubles_of(drawn)))


def exponentials(uniform: Array, rate: float = 1.0) -> Array:
    """Return numbers of the exponential distribution for uniform ones of [0, 1)."""
    return np.log1p(-uniform) / -rate


# -- draws whose number, or whose use of the stream, depends on given probabilities


def fill_bernoulli(words: Words, out: Array, p: float) -> None:
    """Fill an array with 1, with probability p, and 0."""
    fill(words, out, 2, lambda drawn: doubles_of(drawn) < p)


def fill_bernoulli_each(words: Words, out: Array, p: Array) -> None:
    """Fill an array with 1 and 0; p has the probability of 1 for each element."""
    draw = unit_doubles if p.dtype == np.float64 else unit_floats
    probabilities = in_order(np.broadcast_to(p, out.shape), out)
    ordered = in_order(out)
    numbers = draw(words, out.size).reshape(ordered.shape)
    ordered[...] = numbers < probabilities.astype(numbers.dtype, copy=False)


def draw_with_replacement(words: Words, rows: Array, count: int) -> Array:
    """Return count positions for each row of probabilities; positions may come again.

    rows: a matrix of floats, in each row one above 0 at least; their sum may be any number.
    """
    kind = np.float32 if rows.dtype == np.float16 else rows.dtype
    sums = np.cumsum(rows, axis=1, dtype=kind)
    sums /= sums[:, -1:].copy()
    sums[:, -1] = 1
    drawn = np.empty((len(rows), count), np.int64)
    for row, limits in zip(drawn, sums.astype(np.float64), strict=True):
        row[...] = np.searchsorted(limits, unit_doubles(words, count))
    return drawn


def draw_apart(words: Words, rows: Array, count: int) -> Array:
    """Return count different positions for each row of probabilities.

    rows: a vector or matrix of floats. The numbers, divided by exponential ones, are put in order.
    """
    waits = np.empty_like(rows)
    fill_from_uniform(words, waits, exponentials)
    with np.errstate(all="ignore"):
        np.divide(rows, waits, out=waits)
    return np.argsort(np.negative(waits), -1, "stable")[..., :count]
