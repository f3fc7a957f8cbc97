"""Walks over every function with tensors of NaN of all bits, interpreted and compiled.

Whatever the bits, a value that Lua gets is what it gets for the NaN of 0/0.
"""

from functools import cache
from random import Random

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
_ELEMENTS = (
    "is_nan(a[2])",
    "is_nan(b[2][1])",
    "is_nan(b[{1, 2}])",
    "is_nan(d[{1, 2, 3}])",
    "is_nan(a:storage()[1])",
    "for i = 1, 399 do is_nan(e[i]) end",
    "local s = e:storage() for i = 1, #s do is_nan(s[i]) end",
    "e:apply(is_nan)",
    "c:apply(is_nan)",
    "e:map(e:clone(), function(x, y) is_nan(x) return is_nan(y) end)",
    "a:map2(a, a:clone(), function(x, y, z) is_nan(x) is_nan(y) return is_nan(z) end)",
    "for _, x in ipairs(a:totable()) do is_nan(x) end",
    "for _, x in ipairs(a:storage():totable()) do is_nan(x) end",
    "a[1] = b[1][1] is_nan(a[1])",
    "a:fill(b[1][1]) is_nan(a[2])",
    "local t = {} t[1] = a[1] is_nan(t[1])",
    "is_nan(e:sum())",
    "is_nan(e:mean())",
    "is_nan(a:dot(a))",
    "is_nan(b:norm())",
    "is_nan(b:std())",
    "is_nan(e:prod())",
    "is_nan(torch.deserialize(torch.serialize(a))[1])",
    "is_nan(torch.deserialize(torch.serialize(a, 'ascii'), 'ascii')[1])",
    "is_nan(torch.sort(e)[1])",
    "is_nan(torch.median(e)[1])",
    "is_nan(torch.cumsum(e)[3])",
    "is_nan(b:double()[1][1])",
    "is_nan(b:float()[1][1])",
    "is_nan((a + 1)[1])",
    "is_nan((b * a)[1])",
    "local f = torch.MemoryFile() f:binary() f:writeDouble(a:double():storage()) f:seek(1)"
    " is_nan(f:readDouble())",
    "local f = torch.MemoryFile() f:writeFloat(a:float():storage()) f:seek(1)"
    " is_nan(f:readFloat())",
)


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
