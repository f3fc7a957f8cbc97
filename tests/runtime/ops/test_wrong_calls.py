"""A call that fails changes nothing: neither its destinations nor its sources."""

from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.runtime.ops.model import State
from th_shell.runtime.calls.forms import Argument, Foreign, Form, parse_form
from th_shell.runtime.calls.plans import Plans
from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.compute.generator import Generator
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, HALF, LONG, REALS, DType
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

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


def right_argument(chance: Random, dtype: DType, wanted: Argument, usual: int) -> list[Any]:
    """What a form's argument may be.

    usual: how many dimensions most tensors of a call have. Most sizes are equal, too, so that many
    calls are nearly right.
    """

    def of(kind: DType, ndim: int | None) -> Tensor:
        ndim = chance.choice([*[usual] * 16, 0, 1, 2, 3]) if ndim is None else ndim
        return tensor(kind, tuple(chance.choice([2, 2, 2, 2, 2, 3]) for _ in range(ndim)))

    name, _, ndim = wanted.kind.name.partition("~")
    if name.endswith("Tensor"):
        kind = next(d for d in [*REALS, HALF] if f"{d.name}Tensor" == name)
        is_list = kind is LONG and chance.random() < 0.5  # of places, mostly
        return [of(kind, int(ndim[0]) if ndim else 1 if is_list else None)]
    if name.startswith("{"):
        return [[of(dtype, None) for _ in range(2)]]
    if name.startswith("(LongStorage"):
        return [chance.choice([1, 2, 2, 3]) for _ in range(chance.randint(1, 3))]
    if name.startswith("("):
        return [chance.choice(name[1:-1].split("|")).encode()]
    if name == "boolean":
        return [chance.random() < 0.5]
    if name == "Generator":
        return [Generator()]
    return [chance.choice([1, 1, 2, 2, 0, 3, -1, 2.5])]


def forms_of(name: str, space: str, dtype: DType) -> list[Form]:
    """The forms of an operation, but for those with words that only its implementation reads."""
    texts = [row.form(space) for row in TABLE[name] if dtype in row.types]
    found = []
    for text in texts:
        with suppress(KeyError):
            if text is not None:
                found.append(parse_form(text, dtype))
    return found


def call_of_a_form(chance: Random, form: Form, dtype: DType) -> list[Any]:
    """The arguments of a call that the form accepts."""
    given, usual = [], chance.randint(1, 3)
    for wanted in form.arguments:
        if not wanted.invisible and (not wanted.optional or chance.random() < 0.6):
            given += right_argument(chance, dtype, wanted, usual)
    return given


def any_call(chance: Random, space: str, dtype: DType) -> list[Any]:
    """Arguments of which most calls end before an implementation."""
    kinds = chance.choice([range(10), range(6), range(3)])
    args = [argument(chance, dtype, kinds) for _ in range(chance.randint(0, 5))]
    return [tensor(dtype, chance.choice(_SIZES)), *args] if space == "method" else args


@pytest.mark.thorough
@pytest.mark.parametrize("letter", sorted({name[0] for name in _NAMES}))
@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_wrong_call_changes_nothing(letter: str, count: int) -> None:
    for name in _NAMES:
        for seed in range(count if name.startswith(letter) else 0):
            check(name, Random(f"{name} {seed}"))


def check(name: str, chance: Random) -> None:
    """Call an operation with some arguments."""
    spaces = [s for s in ("method", "function") if any(row.form(s) for row in TABLE[name])]
    space = chance.choice(spaces)
    types = {d.index for row in TABLE[name] if row.form(space) for d in row.types if d in REALS}
    dtype = REALS[chance.choice(sorted(types) or [DOUBLE.index])]
    forms = forms_of(name, space, dtype)
    if forms and chance.random() < 0.5:
        args = call_of_a_form(chance, chance.choice(forms), dtype)
    else:
        args = any_call(chance, space, dtype)
    parts = [t for a in args for t in (a if isinstance(a, list) else [a])]
    before = State(*parts)
    with np.errstate(all="ignore"):
        answer = entry(name, dtype if space == "method" else None)(*args)
    if type(answer) is bytes:
        assert b"internal error" not in answer, (name, args, answer.decode())
        before.check()
