"""Manual, Random Numbers: distributions, drawn one at a time or into tensors.

The form with a tensor sets the tensor's elements in their order, without resizing it, to the
numbers that as many calls of the form without a tensor would give. Every form takes a generator,
by default the default one. Parameters outside of their range raise ArgError before any number is
drawn.

Generators, their seeds and their states are at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from th_shell.runtime.calls.results import class_id
from th_shell.runtime.calls.table import ALL, FLOATS, op, with_destination
from th_shell.runtime.compute import libm
from th_shell.runtime.compute.bulk import PIECE
from th_shell.runtime.compute.generator import STATE_SIZE, Generator, chosen
from th_shell.runtime.compute.thread_pool import LARGE, share
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, INT, LONG, Array, DType, cast, cast_scalar
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Sizes, Tensor
from th_shell.runtime.ops._operands import check_counts

_MAX_UINT64 = (1 << 64) - 1

F = TypeVar("F", bound=Callable[..., Any])
Draw = Callable[[int], Array]  # gives an array of so many numbers
Finish = Callable[[Any], Any]  # computes the results from a number or an array, perhaps in place


def _fill(r: Tensor, draw: Draw, finish: Finish, *, by_threads: bool = False) -> None:
    """r = finish(draw(count)), LARGE elements at a time, in their order.

    LARGE is even, as normal numbers are drawn in pairs. by_threads: whether finish takes long.
    """
    in_order = r.flat if r.is_contiguous else None
    for start in range(0, r.nelement, LARGE):
        stop = min(start + LARGE, r.nelement)
        values = draw(stop - start)
        if in_order is not None:
            _finish(in_order[start:stop], values, finish, r.dtype, by_threads)
        else:
            r.array.flat[start:stop] = cast(finish(values), r.dtype)


def _finish(out: Array, values: Array, finish: Finish, dtype: DType, by_threads: bool) -> None:
    def part(at: slice) -> None:
        out[at] = cast(finish(values[at]), dtype)

    if by_threads:
        share(part, len(out), piece=PIECE)
    else:
        part(slice(None))


def _unchanged(values: Array) -> Array:
    return values


def _row(
    name: str, form: str, types: Iterable[DType] = ALL, small: str | None = None
) -> Callable[[F], F]:
    """Add a row of one form, which methods and functions have; small: in the module's Lua half."""
    return op(name, form, form, types, small=small and f"random.{small}")


# -- whole numbers


@_row("random", "[Generator] long long", small="between_number")
def random_between_number(generator: Generator | None, a: int, b: int) -> int:
    """A random whole number from a to b."""
    span = _span(a, b)
    return chosen(generator).word() % span + a


@_row("random", "[Generator] long", small="up_to_number")
def random_up_to_number(generator: Generator | None, b: int) -> int:
    """A random whole number from 1 to b."""
    _check_upper(b)
    return chosen(generator).word() % b + 1


@_row("random", "[Generator]", small="any_number")
def random_number(generator: Generator | None) -> int:
    """A random whole number from 0 to 2^32 - 1."""
    return chosen(generator).word()


@_row("random", "*T* [Generator] long long", small="between")
def random_between(r: Tensor, generator: Generator | None, a: int, b: int) -> None:
    """r = random whole numbers from a to b."""
    # Torch7: adds a as an unsigned number, so that tensors of floats get 2^64 - x for -x.
    remainder, least = _remainder(_span(a, b)), np.uint64(a & _MAX_UINT64)
    _fill(r, chosen(generator).words, lambda words: remainder(words) + least)


@_row("random", "*T* [Generator] long", small="up_to")
def random_up_to(r: Tensor, generator: Generator | None, b: int) -> None:
    """r = random whole numbers from 1 to b."""
    _check_upper(b)
    random_between(r, generator, 1, b)


@_row("random", "*T* [Generator]")
def random(r: Tensor, generator: Generator | None) -> None:
    """r = random whole numbers from 0 to the greatest of an integer type, to 2^24 or 2^32 - 1.

    The limit is 2^24 for Float, and 2^32 - 1 for Double and Long.
    """
    _fill(r, chosen(generator).words, _remainder(_limit(r.dtype)))


def _remainder(divisor: int) -> Finish:
    if divisor >> 32:
        return _unchanged  # a word has 32 bits
    unsigned = np.uint64(divisor)
    return lambda words: words - words // unsigned * unsigned  # numpy's % takes 4 times as long


def _limit(dtype: DType) -> int:
    """The number below which the random whole numbers for an element type are."""
    if dtype is FLOAT:
        return (1 << 24) + 1
    if dtype in (DOUBLE, LONG):
        return 1 << 53
    return int(np.iinfo(dtype.numpy).max) + 1


def _span(a: int, b: int) -> int:
    """Count the whole numbers from a to b."""
    if b < a:
        raise ArgError(2, "upper bound must be larger than lower bound")
    return min(b - a + 1, _MAX_UINT64)


def _check_upper(b: int) -> None:
    if b <= 0:
        raise ArgError(1, "upper bound must be strictly positive")


# -- uniform and normal

_SIZES = "(LongStorage | dim1 [dim2...])"


@_row("uniform", "[Generator] [double=0] [double=1]", FLOATS, small="uniform_number")
def uniform_number(generator: Generator | None, a: float, b: float) -> float:
    """A random number uniform in [a, b)."""
    return chosen(generator).uniform_number() * (float(b) - a) + a


@_row("uniform", "*T* [Generator] [real=0] [real=1]", FLOATS, small="uniform")
def uniform(r: Tensor, generator: Generator | None, a: float, b: float) -> None:
    """r = random numbers uniform in [a, b)."""
    draw = chosen(generator).uniform
    _fill(r, draw, _unchanged if (a, b) == (0, 1) else _scale_and_shift(float(b) - a, a))


@_row("normal", "[Generator] [double=0] [double=1]", FLOATS, small="normal_number")
def normal_number(generator: Generator | None, mean: float, deviation: float) -> float:
    """A random number of the normal distribution."""
    _check_deviation(deviation)
    return chosen(generator).normal_number() * deviation + mean


@_row("normal", "*T* [Generator] [real=0] [real=1]", FLOATS, small="normal")
def normal(r: Tensor, generator: Generator | None, mean: float, deviation: float) -> None:
    """r = random numbers of the normal distribution."""
    if r.sizes:
        _check_deviation(deviation)
    _fill(r, chosen(generator).normal, _scale_and_shift(deviation, mean))


@op("rand", *with_destination(f"*T* [Generator] {_SIZES}"), FLOATS, small="random.rand")
def rand(r: Tensor, generator: Generator | None, sizes: Sizes) -> None:
    """r = random numbers uniform in [0, 1), in a tensor of the given sizes."""
    r.resize(sizes)
    uniform(r, generator, 0, 1)


@op("randn", *with_destination(f"*T* [Generator] {_SIZES}"), FLOATS, small="random.randn")
def randn(r: Tensor, generator: Generator | None, sizes: Sizes) -> None:
    """r = normal numbers with mean 0 and standard deviation 1, in a tensor of the given sizes."""
    r.resize(sizes)
    normal(r, generator, 0, 1)


def _scale_and_shift(scale: float, shift: float) -> Finish:
    def finish(values: Any) -> Any:
        values *= scale
        values += shift
        return values

    return finish


def _check_deviation(deviation: float) -> None:
    if not deviation > 0:
        raise ArgError(2, "standard deviation must be strictly positive")


# -- distributions computed from a uniform or a normal number


def _exponential(rate: float) -> Finish:
    scale = np.float64(-1) / np.float64(rate)
    return lambda u: libm.log(1 - u) * scale


def _cauchy(median: float, sigma: float) -> Finish:
    return lambda u: libm.tan((u - 0.5) * math.pi) * float(sigma) + median


def _log_normal(mean: float, deviation: float) -> Finish:
    exponent = _scale_and_shift(deviation, mean)
    return lambda z: libm.exp(exponent(z))


def _trials(p: float) -> Finish:
    scale = math.log(p)
    return lambda u: libm.log(1 - u) / scale


@_row("exponential", "[Generator] double", FLOATS)
def exponential_number(generator: Generator | None, rate: float) -> float:
    """A random number of the exponential distribution."""
    return float(_exponential(rate)(chosen(generator).uniform_number()))


@_row("exponential", "*T* [Generator] real", FLOATS)
def exponential(r: Tensor, generator: Generator | None, rate: float) -> None:
    """r = random numbers of the exponential distribution."""
    _fill(r, chosen(generator).uniform, _exponential(rate), by_threads=True)


@_row("cauchy", "[Generator] [double=0] [double=1]", FLOATS)
def cauchy_number(generator: Generator | None, median: float, sigma: float) -> float:
    """A random number of the Cauchy distribution."""
    return float(_cauchy(median, sigma)(chosen(generator).uniform_number()))


@_row("cauchy", "*T* [Generator] [real=0] [real=1]", FLOATS)
def cauchy(r: Tensor, generator: Generator | None, median: float, sigma: float) -> None:
    """r = random numbers of the Cauchy distribution."""
    _fill(r, chosen(generator).uniform, _cauchy(median, sigma), by_threads=True)


@_row("logNormal", "[Generator] [double=1] [double=2]", FLOATS)
def log_normal_number(generator: Generator | None, mean: float, deviation: float) -> float:
    """A random number whose logarithm has the normal distribution."""
    _check_deviation(deviation)
    return float(_log_normal(mean, deviation)(chosen(generator).normal_number()))


@_row("logNormal", "*T* [Generator] [real=1] [real=2]", FLOATS)
def log_normal(r: Tensor, generator: Generator | None, mean: float, deviation: float) -> None:
    """r = random numbers whose logarithms have the normal distribution."""
    if r.sizes:
        _check_deviation(deviation)
    _fill(r, chosen(generator).normal, _log_normal(mean, deviation), by_threads=True)


@_row("geometric", "[Generator] double")
def geometric_number(generator: Generator | None, p: float) -> float:
    """Draw the number of trials until one fails, each of which succeeds with probability p."""
    _check_success(p)
    return cast_scalar(_trials(p)(chosen(generator).uniform_number()), INT) + 1


@_row("geometric", "*T* [Generator] double")
def geometric(r: Tensor, generator: Generator | None, p: float) -> None:
    """r = how many trials it takes until one fails, for each element anew."""
    if r.sizes:
        _check_success(p)
        trials = _trials(p)
        _fill(r, chosen(generator).uniform, lambda u: cast(trials(u), INT) + 1, by_threads=True)


def _check_success(p: float) -> None:
    if not 0 < p < 1:
        raise ArgError(1, "must be > 0 and < 1")


@_row("bernoulli", "[Generator] [double=0.5]", small="bernoulli_number")
def bernoulli_number(generator: Generator | None, p: float) -> int:
    """1 with probability p, otherwise 0."""
    _check_probability(0 <= p <= 1)
    return int(chosen(generator).uniform_number() <= p)


@_row("bernoulli", "*T* [Generator] [double=0.5]", small="bernoulli")
def bernoulli(r: Tensor, generator: Generator | None, p: float) -> None:
    """r = 1 with probability p, otherwise 0."""
    _check_probability(not r.sizes or 0 <= p <= 1)
    _fill(r, chosen(generator).uniform, lambda u: u <= p)


@_row("bernoulli", "*T* [Generator] DoubleTensor")
@_row("bernoulli", "*T* [Generator] FloatTensor")
def bernoulli_each(r: Tensor, generator: Generator | None, p: Tensor) -> None:
    """r = 1 with the probability that the element of p says, otherwise 0."""
    check_counts(self=r, p=p)
    flat = p.flat
    _check_probability(bool(((flat >= 0) & (flat <= 1)).all()))
    start = 0

    def draw(count: int) -> Array:
        nonlocal start
        start += count
        hits: Array = chosen(generator).uniform(count) <= flat[start - count : start]
        return hits

    _fill(r, draw, _unchanged)


def _check_probability(valid: bool) -> None:
    if not valid:
        raise ArgError(1, "must be >= 0 and <= 1")


_NO_RESULTS = (None, 0)


@op("Generator.new", function="")
def new() -> tuple[Generator, int]:
    """A new generator with a random seed."""
    return Generator(), class_id(Generator)


@op("seed", function="[Generator]")
def seed(generator: Generator | None) -> int:
    """Start the generator's stream from a random seed, which is returned."""
    return chosen(generator).seed_randomly()


@op("initialSeed", function="[Generator]")
def initial_seed(generator: Generator | None) -> int:
    """The seed that the generator's stream was started from, as a number of 64 bits."""
    unsigned = chosen(generator).seed
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


@op("manualSeed", function="[Generator] long")
def manual_seed(generator: Generator | None, seed: int) -> tuple[None, int]:
    """Start the generator's stream from a seed."""
    chosen(generator).manual_seed(seed)
    return _NO_RESULTS


@op("getRNGState", function="[Generator] [*ByteTensor*]")
def get_state(generator: Generator | None, r: Tensor) -> None:
    """r = the generator's state, in the bytes that the reference gives.

    Raises ArgError where r, resized, is not contiguous.
    """
    r.resize((STATE_SIZE,))
    _check_contiguous(r)
    r.array[...] = np.frombuffer(chosen(generator).state, np.uint8)


@op("setRNGState", function="[Generator] [*ByteTensor*]")
def set_state(generator: Generator | None, state: Tensor) -> None:
    """Continue the stream from a state that getRNGState gave.

    Raises ArgError where it is none, or not contiguous.
    """
    if state.nelement != STATE_SIZE:
        raise ArgError(1, "RNG state is wrong size")
    _check_contiguous(state)
    try:
        chosen(generator).state = state.array.tobytes()
    except ValueError:
        raise ArgError(1, "Invalid RNG state") from None


def _check_contiguous(state: Tensor) -> None:
    if not state.is_contiguous:
        raise ArgError(1, "RNG state needs to be contiguous")
