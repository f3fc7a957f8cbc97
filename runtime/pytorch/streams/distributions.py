"""Numbers of other distributions, each made from one uniform double."""

from __future__ import annotations

import math
from typing import Any

from runtime.core.dtypes import Array
from runtime.pytorch.streams.loops import loops
from runtime.pytorch.streams.order import fill
from runtime.pytorch.streams.uniform import doubles_of
from runtime.pytorch.streams.words import Words
from runtime.pytorch.tensors.memory import address_of


def fill_exponential(words: Words, out: Array, rate: float) -> None:
    """Fill an array of floats with numbers of the exponential distribution."""
    _fill(words, out, loops.exponential, -1.0 / rate)


def fill_cauchy(words: Words, out: Array, median: float, sigma: float) -> None:
    """Fill an array of floats with numbers of Cauchy's distribution."""
    _fill(words, out, loops.cauchy, median, sigma)


def fill_geometric(words: Words, out: Array, p: float) -> None:
    """Fill an array with numbers of trials until one succeeds, each with probability p."""
    _fill(words, out, loops.geometric, math.log1p(-p))


def _fill(words: Words, out: Array, loop: Any, *parameters: float) -> None:
    def compute(drawn: Array) -> Array:
        values = doubles_of(drawn)
        loop(address_of(values), len(values), *parameters)
        return values

    fill(words, out, 2, compute)
