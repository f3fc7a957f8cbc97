"""Manual, Random Numbers: generators and the functions that draw from them.

The stream of a seed is the reference's, bit for bit: the Mersenne Twister's 32-bit words,
divided by 2^32; normal numbers by Box and Muller, of which one of each pair is kept.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from runtime.dispatch import FLOATS, class_id, op
from runtime.dtypes import Array, cast
from runtime.errors import ArgError
from runtime.signatures import OBJECT_KINDS, ObjectKind
from runtime.tensor import Sizes, Tensor

_SIZES = "(LongStorage | dim1 [dim2...])"


class Generator:
    """A random number generator.

    Manual: Random Numbers, torch.Generator().
    """

    typename = "torch.Generator"

    def __init__(self) -> None:
        self.seed = 0
        self._kept: float | None = None
        self._words: Any = None
        self.manual_seed(int.from_bytes(os.urandom(7), "little"))

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed."""
        from numpy.random import MT19937

        self.seed = seed
        self._kept = None
        self._words = MT19937()
        self._words._legacy_seeding(seed & 0xFFFFFFFF)

    def uniform(self, count: int) -> Array:
        """The next numbers of [0, 1), as doubles."""
        return self._words.random_raw(count) * 2.0**-32  # type: ignore[no-any-return]

    def normal(self, count: int) -> Array:
        """The next normal numbers with mean 0 and standard deviation 1, as doubles."""
        result = np.empty(count)
        start = 0
        if count and self._kept is not None:
            result[0], self._kept, start = self._kept, None, 1
        pairs = (count - start + 1) // 2
        draws = self.uniform(2 * pairs).reshape(pairs, 2)
        angle = 2 * np.pi * draws[:, 0]
        radius = np.sqrt(-2 * np.log(1 - draws[:, 1]))
        both = np.empty((pairs, 2))
        both[:, 0], both[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
        flat = both.reshape(-1)
        result[start:] = flat[: count - start]
        if (count - start) % 2:
            self._kept = float(flat[-1])
        return result


OBJECT_KINDS["Generator"] = ObjectKind("Generator", Generator)
class_id(Generator)
_default: Generator | None = None


def _generator(given: Generator | None) -> Generator:
    global _default
    if given is not None:
        return given
    if _default is None:
        _default = Generator()
    return _default


def _store(r: Tensor, values: Array) -> None:
    r.array[...] = cast(values, r.dtype).reshape(r.sizes)


@op("manualSeed", function="[Generator] long")
def manual_seed(generator: Generator | None, seed: int) -> None:
    """Start the stream of a seed."""
    _generator(generator).manual_seed(seed)


@op(
    "rand", method=f"*T* [Generator] {_SIZES}", function=f"[*T*] [Generator] {_SIZES}", types=FLOATS
)
def rand(r: Tensor, generator: Generator | None, sizes: Sizes) -> None:
    """r = numbers uniform in [0, 1)."""
    r.resize(sizes)
    _store(r, _generator(generator).uniform(r.nelement))


@op(
    "randn",
    method=f"*T* [Generator] {_SIZES}",
    function=f"[*T*] [Generator] {_SIZES}",
    types=FLOATS,
)
def randn(r: Tensor, generator: Generator | None, sizes: Sizes) -> None:
    """r = normal numbers with mean 0 and standard deviation 1."""
    r.resize(sizes)
    _store(r, _generator(generator).normal(r.nelement))


_UNIFORM = "[Generator] [double=0] [double=1]"


@op("uniform", method=_UNIFORM, function=_UNIFORM, types=FLOATS)
def uniform_number(generator: Generator | None, a: float, b: float) -> float:
    """A number uniform in [a, b)."""
    return float(_generator(generator).uniform(1)[0] * (b - a) + a)


@op(
    "uniform",
    method="*T* [Generator] [real=0] [real=1]",
    function="*T* [Generator] [real=0] [real=1]",
    types=FLOATS,
)
def uniform(r: Tensor, generator: Generator | None, a: float, b: float) -> None:
    """r = numbers uniform in [a, b)."""
    _store(r, _generator(generator).uniform(r.nelement) * (b - a) + a)


_BERNOULLI = "[Generator] [double=0.5]"


@op("bernoulli", method=_BERNOULLI, function=_BERNOULLI)
def bernoulli_number(generator: Generator | None, p: float) -> float:
    """1 with probability p, else 0."""
    _check_probability(np.asarray(p))
    return float(_generator(generator).uniform(1)[0] <= p)


@op("bernoulli", method=f"*T* {_BERNOULLI}", function=f"*T* {_BERNOULLI}")
def bernoulli(r: Tensor, generator: Generator | None, p: float) -> None:
    """r = 1 with probability p, else 0."""
    _check_probability(np.asarray(p))
    _store(r, (_generator(generator).uniform(r.nelement) <= p).astype(np.uint8))


@op(
    "bernoulli",
    method="*T* [Generator] FloatTensor",
    function="*T* [Generator] FloatTensor",
)
@op(
    "bernoulli",
    method="*T* [Generator] DoubleTensor",
    function="*T* [Generator] DoubleTensor",
)
def bernoulli_each(r: Tensor, generator: Generator | None, p: Tensor) -> None:
    """r = 1 with the probabilities of p, else 0."""
    from runtime.ops._operands import check_counts

    check_counts(self=r, p=p)
    _check_probability(p.array)
    _store(r, (_generator(generator).uniform(r.nelement) <= p.flat).astype(np.uint8))


def _check_probability(p: Array) -> None:
    if not ((p >= 0) & (p <= 1)).all():
        raise ArgError(1, "must be >= 0 and <= 1")
