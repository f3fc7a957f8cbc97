"""Expressions of Lua for values of every kind: fitting, nearly fitting, and foreign."""

from collections.abc import Sequence
from random import Random

CLASSES = ("Double", "Float", "Long", "Int", "Short", "Char", "Byte", "Half")

#: Layouts of prelude.lua, the frequent ones more than once.
LAYOUTS = (
    *("plain", "range", "positive") * 4,
    *("special", "transposed", "stepped", "narrowed", "expanded", "overlapping"),
    *("shrunk", "empty"),
)

HUGE = (
    *("2^31", "2^31 - 1", "-2^31", "2^32", "2^40", "2^53", "2^62", "2^63", "-2^63", "2^64"),
    *(
        "1e308",
        "-1e308",
        "1/0",
        "-1/0",
        "0/0",
        "-(0/0)",
        "65536",
        "100000",
        "1e-310",
        "1.5",
        "-0.0",
    ),
)

FOREIGN = (
    *("nil", "true", "false", "{}", "{1, 2}", "{{1}, {2, 3}}", "{'a'}", "print", "math.huge"),
    *("function() end", "coroutine.create(function() end)", "newproxy(true)", "io.stdout"),
    *("'3'", "'0x10'", "''", "'abc'", "'V'", "'torch.FloatTensor'", "('x'):rep(300)", "1LL"),
    *("torch.Generator()", "torch.MemoryFile()", "torch.Timer()", "torch.LongStorage{2, 2}"),
    *("torch.HalfTensor(2)", "torch.CharStorage(3)", "torch.LongStorage{2^40}", "torch"),
    *("torch.LongStorage()", "torch.LongTensor{1, 2}", "torch.ByteTensor{1, 0, 1}", "{1, {}}"),
    *("setmetatable({}, {__index = torch})", "torch.FloatTensor(3, 3)", "torch.Tensor()"),
)

_OPTIONS = {"long": (-1, 0, 1, 1, 2, 2, 3, 4, 7), "real": (0, 1, -1, 2, 0.5, 3, 100)}


class Values:
    """Draws expressions for one program.

    sizes: the sizes that its tensors have; all the same in a third of the programs, so that
    products and factorisations fit.
    """

    def __init__(self, rng: Random, dtype: str) -> None:
        self.rng = rng
        self.dtype = dtype
        one = rng.randint(1, 5)
        self.sizes = [one] * 3 if rng.random() < 0.4 else [rng.randint(1, 5) for _ in range(3)]
        self._pool: list[tuple[str, str, int]] = []

    def declare(self, name: str, dtype: str, ndim: int) -> str:
        """A statement that makes a tensor, which later expressions may use."""
        self._pool.append((name, dtype, ndim))
        return f"{name} = {self.new(dtype, ndim)}"

    def new(self, dtype: str, ndim: int) -> str:
        """A new tensor."""
        layout = self.rng.choice(LAYOUTS)
        sizes = ", ".join(str(self.sizes[i % 3]) for i in range(ndim))
        return f"make('{dtype}', '{layout}', {sizes})"

    def tensor(self, dtype: str | None = None, ndim: int | None = None) -> str:
        """A tensor: one of the program's, where one fits."""
        rng = self.rng
        dtype = dtype or self.dtype
        fits = [name for name, d, n in self._pool if d == dtype and ndim in (None, n)]
        if fits and rng.random() < 0.8:
            return rng.choice(fits)
        return self.new(dtype, ndim or rng.choice((1, 1, 2, 2, 3, 4)))

    def number(self, kind: str) -> str:
        """A number: an index, a count or a value of elements."""
        rng = self.rng
        if kind == "index":
            return str(rng.choice((1, 1, 1, 2, 2, 3)))
        if kind in ("long", "int"):
            return str(rng.choice(_OPTIONS["long"]))
        return str(rng.choice(_OPTIONS["real"]))

    def size_list(self) -> str:
        """Sizes: as numbers, or as a LongStorage."""
        rng = self.rng
        sizes = [rng.choice((*self.sizes, 1, 2)) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.1:
            sizes[rng.randrange(len(sizes))] = -1
        if rng.random() < 0.02:
            sizes = [rng.choice((1, 1, 1, 0, 2))] + [1] * rng.choice((15, 31, 32, 63, 64, 70))
        text = ", ".join(map(str, sizes))
        return f"torch.LongStorage{{{text}}}" if rng.random() < 0.4 else text

    def storage(self, dtype: str | None = None) -> str:
        """A storage, perhaps that of one of the tensors."""
        rng = self.rng
        if self._pool and rng.random() < 0.5:
            name, _, _ = rng.choice(self._pool)
            return f"{name}:storage()"
        return f"torch.{dtype or self.dtype}Storage({rng.randint(0, 9)})"

    def any(self) -> str:
        """Whatever there is."""
        rng = self.rng
        choice = rng.randrange(6)
        if choice == 0:
            return self.tensor(rng.choice(CLASSES))
        if choice == 1:
            return rng.choice(HUGE)
        if choice == 2:
            return self.storage(rng.choice(CLASSES))
        if choice == 3 and self._pool:
            return rng.choice(self._pool)[0]
        if choice == 4:
            return f"v[{rng.randint(1, 12)}]"
        return rng.choice(FOREIGN)

    def spoiled(self, arguments: Sequence[str]) -> list[str]:
        """Arguments of which some are of another kind, gone, repeated or in another order."""
        rng = self.rng
        changed = list(arguments)
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(changed)) if changed else 0
            kind = rng.randrange(8)
            if kind < 3 and changed:
                changed[at] = self.any()
            elif kind < 5 and changed:
                changed[at] = rng.choice(HUGE)
            elif kind == 5 and changed:
                del changed[at]
            elif kind == 6 and len(changed) > 1:
                changed[at], changed[at - 1] = changed[at - 1], changed[at]
            else:
                changed.insert(at, self.any())
        return changed
