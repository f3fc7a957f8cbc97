"""Methods that fill a tensor with random numbers. PyTorch's documentation: torch, In-place random
sampling.

What is wrong with a call is said before any number is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import NUMPY_DTYPES, dtype
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import check_long
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.table import op
from th_shell.torch.classes.generator import Source, words_of
from th_shell.torch.compute.elementwise import (
    ALL,
    FLOATS,
    NUMBERS,
    WIDE_FLOATS,
    check_types,
)
from th_shell.torch.ops.views import expanded
from th_shell.torch.streams.distributions import (
    fill_bernoulli,
    fill_bernoulli_each,
    fill_by,
    fill_log_normal,
    fill_normal,
)
from th_shell.torch.streams.uniform import (
    fill_all_longs,
    fill_natural,
    fill_uniform,
    fill_whole,
)
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
def log_normal_(
    input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Source = None
) -> Tensor:
    """Fill with numbers whose logarithms are normal."""
    require(std > 0, "log_normal_ expects std > 0.0, but found std={:g}", std)
    return _fill(fill_log_normal, input, generator, mean, std, kernel="log_normal_cpu")


@op(function=False)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Source = None) -> Tensor:
    """Fill with numbers of the exponential distribution with the rate lambd."""
    require(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda={:g}", lambd)
    if input.array.size:
        _require_float(input, "Exponential", input.dtype.scalar)
    return _fill(fill_by, input, generator, "exponential", -1.0 / lambd)


@op(function=False)
def cauchy_(
    input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Source = None
) -> Tensor:
    """Fill with numbers of Cauchy's distribution."""
    require(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma={:g}", sigma)
    _require_float(input, "Cauchy", input.dtype.real)
    return _fill(fill_by, input, generator, "cauchy", median, sigma)


def _require_float(input: Tensor, distribution: str, kind: str) -> None:
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be "
            f"a floating point but you specified {kind}"
        )


# -- whole numbers


@op(function=False)
def geometric_(input: Tensor, p: float, *, generator: Source = None) -> Tensor:
    """Fill with numbers of trials until one succeeds, each with probability p."""
    require(0 < p < 1, "geometric_ expects p to be in (0, 1), but got p={:g}", p)
    kernel, scale = "geometric_cpu", math.log1p(-p)
    return _fill(fill_by, input, generator, "geometric", scale, kernel=kernel, takes=NUMBERS)


@op(function=False)
def random_(input: Tensor, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from 0 to the greatest of the type, or 2^24 for float32."""
    return _fill(fill_natural, input, generator, kernel="random_kernel_cpu", takes=ALL)


@op(name="random_", function=False)
def whole_(input: Tensor, from_: int, to: int | None, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from `from` to to - 1; for None to the greatest of the type."""
    array = input.array
    check_single(array)
    found = whole_range(array.dtype, from_, to)
    if not array.size:
        return input
    if found is not None:
        return _fill(fill_whole, input, generator, *found)
    check_full(array.dtype)
    return _fill(fill_all_longs, input, generator)


@op(name="random_", function=False)
def random_below_(input: Tensor, to: int, *, generator: Source = None) -> Tensor:
    """Fill with whole numbers from 0 to to - 1."""
    return whole_(input, 0, to, generator=generator)


@op(name="bernoulli_", function=False)
def bernoulli_each_(input: Tensor, p: Tensor, *, generator: Source = None) -> Tensor:
    """Fill with 1 and 0; p has the probability of 1 for each element."""
    array, given = input.array, p.array
    if not array.size:
        return input
    check_single(array)
    check_types("bernoulli_tensor_cpu_self_", ALL, input.dtype.numpy)
    probabilities = expanded(p, array.shape).array
    check_types("bernoulli_tensor_cpu_p_", FLOATS, p.dtype.numpy)
    if not ((given >= 0) & (given <= 1)).all():
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


# -- ranges of whole numbers that element types can hold


_LEAST, _MOST = -(2**63), 2**63 - 1


def whole_range(kind: np.dtype[Any], first: int, stop: int | None) -> tuple[int, int] | None:
    """The first of the whole numbers below `stop` that a type can hold, and how many there are.

    stop: None for up to the greatest number that the type can hold. Returns None for all numbers of
    64 bits. Raises RuntimeError, ValueError and NotImplementedError in PyTorch's words.
    """
    check_long(first, stop or 0)
    if stop is None:
        return _open_range(kind, first)
    if first >= stop:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={first} >= to={stop}"
        )
    if kind.kind == "f":
        first, stop = _next_from(kind, first), _last_to(kind, stop)
        if first >= stop:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
                f"got from={first} >= to={stop}"
            )
    _check(kind, first, stop - 1)
    return first, stop - first


def _open_range(kind: np.dtype[Any], first: int) -> tuple[int, int] | None:
    if first == _LEAST:
        return None
    if kind.kind == "f":
        last, first = 1 << _digits(kind), _next_from(kind, first)
        if first >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={first} > to_inc={last}"
            )
    else:
        last = 1 if kind.kind == "b" else int(np.iinfo(kind).max)
    _check(kind, first, last)
    return first, last - first + 1


def check_full(kind: np.dtype[Any]) -> None:
    """Raise an error where a type is not filled with any numbers of 64 bits."""
    name = "random_full_64_bits_range_kernel_cpu"
    check_types(name, NUMBERS - FLOATS | WIDE_FLOATS, kind)
    if kind not in (np.int64, np.float32, np.float64):
        raise RuntimeError(f"{name} handles only int64, double, float and bfloat16")


def _check(kind: np.dtype[Any], first: int, last: int) -> None:
    """Check that a type holds the first and the last of some numbers."""
    least, most = _limits(kind)
    if kind.kind != "f" and least <= first <= last <= most:
        return
    real = NUMPY_DTYPES[kind].real
    bounds = (("from", first), ("to - 1", last))
    for name, bound in bounds:
        require(least <= bound <= most, "{} is out of bounds for {}", name, real)
    digits = _digits(kind)
    for name, bound in bounds:
        if abs(bound) > 1 << digits:
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {real} can support discrete uniform distribution only within this "
                "range. This warning will become an error in version 1.7 release, please fix the "
                "code in advance"
            )


@cache
def _limits(kind: np.dtype[Any]) -> tuple[float, float]:
    if kind.kind == "f":
        return float(np.finfo(kind).min), float(np.finfo(kind).max)
    if kind.kind == "b":
        return 0, 1
    # PyTorch: of uint64, only what int64 holds, too.
    return int(np.iinfo(kind).min), min(int(np.iinfo(kind).max), _MOST)


def _digits(kind: np.dtype[Any]) -> int:
    """How many bits a float's whole numbers have without a gap."""
    return int(np.finfo(kind).nmant) + 1


def _as_held(kind: np.dtype[Any], number: int) -> int | None:
    """A number as a type of floats holds it; None beyond its range."""
    with np.errstate(all="ignore"):
        held = float(kind.type(number))
    return int(held) if np.isfinite(held) else None


def _gap(kind: np.dtype[Any], number: int) -> int:
    """The distance from one float to the next about a number."""
    return 1 << max(abs(number).bit_length() - _digits(kind), 0)


def _next_from(kind: np.dtype[Any], first: int) -> int:
    """The first number, or where the type has no such float the next one that is not below."""
    held = _as_held(kind, first + 1)
    return held + _gap(kind, first + 1) if held is not None and held < first else first


def _last_to(kind: np.dtype[Any], stop: int) -> int:
    """The end, or where the type has no float just below it the one before."""
    held = _as_held(kind, stop - 1)
    return held - _gap(kind, stop - 1) if held is not None and held >= stop else stop
