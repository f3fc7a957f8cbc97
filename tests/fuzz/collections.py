"""Operations, views and collections in random order: nothing is lost, nothing else comes out."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from tests.fuzz.calls import call
from tests.fuzz.cases import Case
from tests.fuzz.operations import Operation, operations
from tests.fuzz.values import Values

_STEPS = 25

#: What differs between two runs by itself: addresses, times, seeds, undetermined memory, files
#: that are there; and what changes how later objects live.
_DIFFERS = frozenset(
    """pointer cdata data id tic toc time Timer seed initialSeed getRNGState setRNGState Generator
    new resize resizeAs Storage Tensor DiskFile PipeFile MemoryFile save load saveobj loadobj set
    serialize serializeToStorage free retain setnumthreads getnumthreads setheaptracking __factory
    deserializeFromStorage write read multinomialAliasSetup_ geqrf eig svd symeig qr""".split()
)

_VIEWS = (
    *(":t()", ":view(-1)", ":narrow(1, 1, 1)", ":select(1, 1)", "[1]", ":storage()", ":clone()"),
    *(":transpose(1, 2)", ":unfold(1, 1, 1)", ":sub(1, 1)", ":contiguous()", ":double()"),
    *(":squeeze()", ":set()", ":sort()", ":sum(1)", ":add(1)", ":expandAs({0})"),
)

_QUICK = (":sort()", ":sum()", ":clone()", ":max()", ":cumsum(1)", ":add(1)", ":nonzero()", ":t()")


@cache
def _operations(dtype: str) -> tuple[Operation, ...]:
    return tuple(
        o
        for o in operations()
        if o.dtype == dtype
        and o.function.rpartition(".")[2] not in _DIFFERS
        and not {"Generator", "file", "timer", "path"} & {w.strip("[]") for w in o.arguments}
    )


class _Settled(Values):
    """Layouts without undetermined memory, and no generators but the one that is seeded."""

    def any(self) -> str:
        return self.tensor()

    def storage(self, dtype: str | None = None) -> str:
        return f"torch.{dtype or self.dtype}Storage({self.rng.randint(0, 9)}):fill(3)"

    def new(self, dtype: str, ndim: int) -> str:
        # Where an operand reaches past its storage, the destination may be left undetermined.
        return super().new(dtype, ndim).replace("shrunk", "range")


def make(rng: Random) -> Case:
    """A program whose steps run without collections, then with them."""
    dtype = rng.choice(("Double", "Double", "Float", "Long", "Byte"))
    values = _Settled(rng, dtype)
    lines = []
    for i, ndim in enumerate((1, 2, 2, 3), 1):
        lines.append(f"step(function() {values.declare(f'v[{i}]', dtype, ndim)} end)")
    for _ in range(_STEPS):
        target = f"v[{rng.randint(5, 12)}]"
        chance = rng.random()
        if chance < 0.5:
            # Half of these compute with a view that nothing keeps: their storage is shared.
            value = f"v[{rng.randint(1, 4 if chance < 0.35 else 12)}]{rng.choice(_VIEWS)}"
            value = value.format(f"v[{rng.randint(1, 4)}]")
            value += rng.choice(_QUICK) if chance < 0.25 else ""
        else:
            value = call(values, rng.choice(_operations(dtype)), fitting=1)
        if rng.random() < 0.04:
            body = "torch.ones(200000):add(1):t()" if rng.random() < 0.1 else values.new(dtype, 2)
            lines.append(f"step(function() finally(function() return {body}:sum() end) end)")
        gone = rng.choice(
            ("", "", "", "", "collect() ", f"v[{rng.randint(5, 12)}] = nil collect() ")
        )
        lines.append(f"step(function() {gone}local x = {value} {target} = x return x end)")
    return Case(tuple(lines), _play)


def _play(lines: Sequence[Any]) -> tuple[str, dict[str, bytes]]:
    return "\n".join([*lines, "play()"]), {}
