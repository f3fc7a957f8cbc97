"""Walks over every function with tensors of NaN of all bits, interpreted and compiled.

Whatever the bits, a value that Lua gets is what it gets for the NaN of 0/0.
"""

from functools import cache
from random import Random

from tests.data_files import data
from tests.fuzz.calls import call
from tests.fuzz.cases import Case
from tests.fuzz.mutations import HIGH_WORDS
from tests.fuzz.operations import Operation, operations
from tests.fuzz.values import Values

_LOW = (
    *("0", "1", "0xFFFFFFFFFFFF", "0x414141414141", "0x7FFFFFFFFFFF", "0x800000000001"),
    *("0xFFFF", "0x58000000"),
)

#: What Lua code does with elements, with tensors a (1D), b, c (2D), d (3D), e (1D, large).
_ELEMENTS = tuple(data(__file__, "_ELEMENTS"))


@cache
def _operations(dtype: str) -> tuple[Operation, ...]:
    return tuple(o for o in operations() if o.dtype == dtype and "T" in "".join(o.arguments))


class _Operands(Values):
    """Tensors are the parameters of the function that a step calls."""

    def __init__(self, rng: Random, dtype: str) -> None:
        super().__init__(rng, dtype)
        self.sizes = [3, 3, 3]

    def tensor(self, dtype: str | None = None, ndim: int | None = None) -> str:
        if dtype in (None, self.dtype):
            by_ndim = {1: ("a", "a", "e"), 2: ("b", "c"), 3: ("d",)}
            return self.rng.choice(by_ndim.get(ndim or self.rng.randint(1, 2), ("b",)))
        if dtype == "Long":
            return "i" if ndim != 2 and self.rng.random() < 0.7 else "k"
        return "m" if dtype == "Byte" else super().tensor(dtype, ndim)


def make(rng: Random) -> Case:
    """A program of a few steps, each on tensors of some bits, once or compiled."""
    return Case.of_lines([_step(rng) for _ in range(5)])


def _step(rng: Random) -> str:
    dtype = rng.choice(("Double", "Float"))
    values = _Operands(rng, dtype)
    if rng.random() < 0.3:
        body = rng.choice(_ELEMENTS)
    else:
        body = f"return {call(values, rng.choice(_operations(dtype)), fitting=1)}"
    count = rng.choice((1, 1, 80))
    high = rng.choice(HIGH_WORDS)
    low = rng.choice(_LOW if high % 16 else _LOW[1:])  # all zeros are an infinity
    bits = f"0x{high:X}, {low}"
    return f"nan('{dtype}', {bits}, {count}, function(a, b, c, d, e, i, m, k) {body} end)"
