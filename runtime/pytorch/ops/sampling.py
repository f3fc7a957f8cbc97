"""Tensors drawn with given probabilities. PyTorch's documentation: torch, Random sampling.

What is wrong with a call is said before any number is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import int64
from runtime.pytorch.base.shapes import Shape
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Out
from runtime.pytorch.classes.generator import Source, words_of
from runtime.pytorch.ops.random_in_place import bernoulli_, bernoulli_each_, check_kind
from runtime.pytorch.streams.choices import draw_apart, draw_with_replacement, poisson
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import resize

_MOST = 1 << 24


@op()
def bernoulli(input: Tensor, *, generator: Source = None, out: Out = None) -> Tensor:
    """A tensor of 1 and 0; input has the probability of 1 for each element."""
    array = input.array
    if out is None:
        out = wrap(np.empty(array.shape, array.dtype))
    elif out.sizes != array.shape:
        resize(out, array.shape)
    return bernoulli_each_(out, input, generator=generator)


@op(name="bernoulli")
def bernoulli_alike(input: Tensor, p: float, *, generator: Source = None) -> Tensor:
    """A tensor of the sizes of input, of 1, with probability p, and 0."""
    array = input.array
    return bernoulli_(wrap(np.empty(array.shape, array.dtype)), p, generator=generator)


@op(name="poisson", method=False)
def poisson_of(input: Tensor, generator: Source = None) -> Tensor:
    """A tensor of numbers of Poisson's distribution; input has the rate of each."""
    rates = input.array
    if rates.size:
        check_kind(rates, "f", "poisson_cpu")
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    words = words_of(generator)
    with words.lock:
        drawn = [poisson(words, rate) for rate in rates.ravel().tolist()]
    return wrap(np.array(drawn, rates.dtype).reshape(rates.shape))


@op()
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Source = None,
    out: Out = None,
) -> Tensor:
    """For each row of input positions that are drawn with the row's elements as probabilities.

    input: a vector or a matrix; the sum of a row may be any positive number. replacement: whether
    a position may come again. Returns int64, a vector of num_samples or a matrix of the rows by
    num_samples.
    """
    _check_counts(input, num_samples, replacement, out)
    array = input.array
    shape = (*array.shape[:-1], num_samples)
    if 0 not in shape:
        _check_probabilities(array)
    drawn = _draw(array, shape, replacement, generator)
    if out is None:
        return wrap(drawn)
    if out.sizes != shape:
        resize(out, shape)
    out.array[...] = drawn
    return out


def _require(holds: Any, message: str) -> None:
    if not holds:
        raise RuntimeError(message)


def _check_counts(input: Tensor, count: int, replacement: bool, out: Out) -> None:
    array, kind = input.array, input.dtype
    _require(0 < array.ndim <= 2, "prob_dist must be 1 or 2 dim")
    _require(
        kind.is_floating_point,
        f"multinomial only supports floating-point dtypes for input, got: {kind.scalar}",
    )
    if out is not None:
        _require(
            out.dtype is int64, f"multinomial expects Long tensor out, got: {out.dtype.scalar}"
        )
    _require(count > 0, "cannot sample n_sample <= 0 samples")
    _require(
        replacement or count <= array.shape[-1],
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    )
    _require(array.shape[-1] <= _MOST, "number of categories cannot exceed 2^24")


def _check_probabilities(array: Array) -> None:
    _require(
        ((array >= 0) & (array < np.inf)).all(),
        "probability tensor contains either `inf`, `nan` or element < 0",
    )
    _require(
        array.any(axis=-1).all(), "invalid multinomial distribution (sum of probabilities <= 0)"
    )


def _draw(array: Array, shape: Shape, replacement: bool, generator: Source) -> Array:
    if 0 in shape:
        return np.empty(shape, np.int64)
    words = words_of(generator)
    with words.lock:
        if not replacement or shape[-1] == 1:  # PyTorch: a single draw is the same either way
            return draw_apart(words, array, shape[-1]).copy()
        rows = array.reshape(-1, array.shape[-1])
        return draw_with_replacement(words, rows, shape[-1]).reshape(shape)
