"""Numbers of other distributions, each made from one uniform double."""

from __future__ import annotations

import math

from runtime.core.dtypes import Array
from runtime.pytorch.streams.loops import run
from runtime.pytorch.streams.order import fill
from runtime.pytorch.streams.uniform import unit_doubles
from runtime.pytorch.streams.words import Words

__all__ = ["fill_cauchy", "fill_exponential", "fill_geometric"]


def fill_exponential(words: Words, out: Array, rate: float) -> None:
    """Fill an array of floats with numbers of the exponential distribution."""
    _fill(words, out, b"exponential", -1.0 / rate)


def fill_cauchy(words: Words, out: Array, median: float, sigma: float) -> None:
    """Fill an array of floats with numbers of Cauchy's distribution."""
    _fill(words, out, b"cauchy", median, sigma)


def fill_geometric(words: Words, out: Array, p: float) -> None:
    """Fill an array with numbers of trials until one succeeds, each with probability p."""
    _fill(words, out, b"geometric", math.log1p(-p))


def _fill(words: Words, out: Array, loop: bytes, *parameters: float) -> None:
    def draw(count: int) -> Array:
        values = unit_doubles(words, count)
        run(loop, values, count, *parameters)
        return values

    fill(out, draw)
