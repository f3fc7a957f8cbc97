"""Methods that fill a tensor with random numbers. PyTorch's documentation: torch, In-place random
sampling.

What is wrong with a call is said before any number is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import dtype
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import check_long
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, FLOATS, check_types
from th_shell.torch.ops.views import expanded
from th_shell.torch.streams.distributions import (
    exponentials,
    fill_bernoulli,
    fill_bernoulli_each,
    fill_from_uniform,
    fill_normal,
)
from th_shell.torch.streams.generator import Source, words_of
from th_shell.torch.streams.uniform import fill_uniform, fill_whole
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.tensors.writing import check_single


def _fill(
    fill: Callable[..., None],
    tensor: Tensor,
    generator: Source,
    *parameters: Any,
    kernel: str = "",
    takes: frozenset[int] = FLOATS,
) -> Tensor:
    """Call a function that fills an array, with the generator's words; returns the tensor.

    kernel: what the error for types that are not among `takes` calls the operation.
    """
    array = tensor.array
    if not array.size:
        return tensor
    check_types(kernel, takes, tensor.dtype.numpy)
    check_single(array)
    words = words_of(generator)
    with words.lock:
        fill(words, array, *parameters)
    return tensor


# -- uniform and normal


@op(function=False)
def uniform_(
    input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Source = None
) -> Tensor:
    """Fill with numbers uniform in [from, to)."""
    array = input.array
    if array.dtype.kind != "f" or (from_, to) != (0, 1):
        _check_range(input.dtype, from_, to)
    return _fill(fill_uniform, input, generator, from_, to)


def _check_range(kind: dtype, first: float, stop: float) -> None:
    check_types("check_uniform_bounds", FLOATS, kind.numpy)
    most = float(np.finfo(kind.numpy).max)
    for name, bound in (("from", first), ("to", stop)):
        require(-most <= bound <= most, "{} is out of bounds for {}", name, kind.real)
    empty = "uniform_ expects to return a [from, to) range, but found from={:g} > to={:g}"
    require(first <= stop, empty, first, stop)
    if stop - first > most:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{kind.scalar}>::max(), but found "
            f"to={stop:g} and from={first:g} which result in to-from to exceed the limit"
        )


@op(function=False)
def normal_(
    input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Source = None
) -> Tensor:
    """Fill with numbers of the normal distribution."""
    require(std >= 0, "normal expects std >= 0.0, but found std {:g}", std)
    return _fill(fill_normal, input, generator, mean, std, kernel="normal_kernel_cpu")


# -- other distributions of floats


@op(function=False)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Source = None) -> Tensor:
    """Fill with numbers of the exponential distribution with the rate lambd."""
    require(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda={:g}", lambd)
    takes = (
        "Exponential distribution is a continuous probability distribution. dtype must be a "
        "floating point but you specified {}"
    )
    require(input.dtype.is_floating_point, takes, input.dtype.scalar)
    return _fill(fill_from_uniform, input, generator, lambda u: exponentials(u, lambd))


# -- whole numbers


@op(function=False)
def random_(input: Tensor, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from 0 to the greatest of the type, or 2^24 for float32."""
    return whole_(input, 0, None, generator=generator)


@op(name="random_", function=False)
def whole_(input: Tensor, from_: int, to: int | None, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from `from` to to - 1; for None to the greatest of the type."""
    check_long(from_, to or 0)
    least, most, greatest = _limits(input.array.dtype)
    last = greatest if to is None else to - 1
    empty = "random_ expects 'from' to be less than 'to', but got from={} >= to={}"
    require(from_ <= last, empty, from_, last + 1)
    for name, bound in (("from", from_), ("to - 1", last)):
        require(least <= bound <= most, "{} is out of bounds for {}", name, input.dtype.real)
    return _fill(fill_whole, input, generator, from_, last - from_ + 1, takes=ALL)


@cache
def _limits(kind: np.dtype[Any]) -> tuple[float, float, int]:
    """Return the least and the greatest number of a type, and the last whole one without a gap."""
    if kind.kind == "f":
        most = float(np.finfo(kind).max)
        return -most, most, 1 << (int(np.finfo(kind).nmant) + 1)
    if kind.kind == "b":
        return 0, 1, 1
    most = int(np.iinfo(kind).max)
    return int(np.iinfo(kind).min), most, most


@op(name="random_", function=False)
def random_below_(input: Tensor, to: int, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from 0 to to - 1."""
    return whole_(input, 0, to, generator=generator)


@op(name="bernoulli_", function=False)
def bernoulli_each_(input: Tensor, p: Tensor, *, generator: Source = None) -> Tensor:
    """Fill with 1 and 0; p has the probability of 1 for each element."""
    array, chances = input.array, p.array
    if not array.size:
        return input
    check_single(array)
    check_types("bernoulli_tensor_cpu_self_", ALL, input.dtype.numpy)
    probabilities = expanded(p, array.shape).array
    check_types("bernoulli_tensor_cpu_p_", FLOATS, p.dtype.numpy)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return _fill(fill_bernoulli_each, input, generator, probabilities)


@op(function=False)
def bernoulli_(input: Tensor, p: float = 0.5, *, generator: Source = None) -> Tensor:
    """Fill with 1, with probability p, and 0."""
    require(0 <= p <= 1, "bernoulli_ expects p to be in [0, 1], but got p={:g}", p)
    return _fill(fill_bernoulli, input, generator, p, kernel="bernoulli_scalar_cpu_", takes=ALL)
