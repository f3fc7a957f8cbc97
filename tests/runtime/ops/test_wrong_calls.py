"""A call that fails changes nothing: neither its destinations nor its sources."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import runtime.ops  # noqa: F401 (adds the rows)
from runtime.calls.forms import Foreign
from runtime.calls.plans import Plans
from runtime.calls.table import TABLE
from runtime.core.dtypes import BYTE, DOUBLE, HALF, LONG, REALS, DType
from runtime.core.storage import STORAGE_CLASSES
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from tests.runtime.ops.model import State

entry = Plans().entry

pytestmark = pytest.mark.usefixtures("engine")

# What changes the geometry of its self step by step, and what only concerns Python.
_APART = {"set", "resize", "resizeAs", "new", "apply", "retain", "free"}
_NAMES = sorted(name for name in TABLE if "." not in name and name not in _APART)
_SIZES: tuple[tuple[int, ...], ...] = ((), (3,), (6,), (2, 3), (3, 2), (3, 3), (2, 2, 2))


def tensor(dtype: DType, sizes: tuple[int, ...]) -> Tensor:
    count = int(np.prod(sizes)) if sizes else 0
    values = (np.arange(count) % 3 + (0 if dtype is BYTE else 1)).astype(dtype.numpy)
    return TENSOR_CLASSES[dtype.index].of(values.reshape(sizes) if sizes else values)


def argument(chance: Random, dtype: DType, kinds: Sequence[int]) -> Any:
    """What a right call may have mostly, or anything else that Lua may pass."""
    kind, sizes = chance.choice(kinds), chance.choice(_SIZES)
    if kind < 3:
        return tensor(dtype, sizes)
    if kind < 5:
        return chance.choice([0, 1, 2, 3, -1, 2.5, 100, float("nan"), True, False, None])
    if kind == 5:
        return tensor(LONG, sizes)
    if kind == 6:
        return tensor(chance.choice([*REALS, HALF]), (2, 3))
    if kind == 7:
        return chance.choice([b"2", b"x", b"V", b"N", Foreign("function"), Foreign("table")])
    if kind == 8:
        return STORAGE_CLASSES[LONG.index].new(1)
    return [tensor(dtype, chance.choice(_SIZES)) for _ in range(chance.randint(1, 2))]


@pytest.mark.parametrize("letter", sorted({name[0] for name in _NAMES}))
@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_wrong_call_changes_nothing(letter: str, count: int) -> None:
    for name in _NAMES:
        for seed in range(count if name.startswith(letter) else 0):
            check(name, Random(f"{name} {seed}"))


def check(name: str, chance: Random) -> None:
    """Call an operation with some arguments."""
    types = sorted({d.index for row in TABLE[name] for d in row.types if d in REALS})
    dtype = REALS[chance.choice(types or [DOUBLE.index])]
    spaces = [s for s in ("method", "function") if any(row.form(s) for row in TABLE[name])]
    space = chance.choice(spaces)
    # Most calls of arguments that no call has end before an implementation.
    kinds = chance.choice([range(10), range(6), range(3)])
    args = [argument(chance, dtype, kinds) for _ in range(chance.randint(0, 5))]
    if space == "method":
        args.insert(0, tensor(dtype, chance.choice(_SIZES)))
    parts = [t for a in args for t in (a if isinstance(a, list) else [a])]
    before = State(*parts)
    with np.errstate(all="ignore"):
        answer = entry(name, dtype if space == "method" else None)(*args)
    if type(answer) is bytes:
        assert b"internal error" not in answer, (name, args, answer.decode())
        before.check()
