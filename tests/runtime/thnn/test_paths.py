"""Small calls that Lua computes give what Python gives, also for nans, infinities and zeros.

Lua's formulas and kernels take contiguous tensors alone: the same numbers with gaps between them go
to Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from runtime import Engine
from tests.runtime.thnn.test_recorded import HERE, Answers, answers

# Of these, all elements of the results follow from the same elements of the arguments.
EACH = re.compile(
    "Abs|ELU|Hard|Leaky|PReLU_up|Sigmoid|Soft(Plus|Shrink)|Sqrt|Square|Tanh|Threshold|LogSigmoid"
    "|(DistKLDiv|Margin|MSE|SmoothL1|SoftMargin|BCE)Criterion_updateG|L1Cost|Gated"
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


def run(engine: Engine, capfd: pytest.CaptureFixture[str], family: str, *more: str) -> Answers:
    arguments = [f"{HERE}/cases/{family}.lua", "3", "4", "", *more]
    engine.set_arguments(b"run_cases.lua", [a.encode() for a in arguments])
    engine.call(engine.compile_file(f"{HERE}/run_cases.lua"))
    engine.flush()
    return answers(capfd.readouterr().out)


def differs(one: str, other: str, tolerance: float) -> bool:
    """Whether two lines differ: a tensor's position, sizes and elements, or an error."""
    if "error" in one or "error" in other:
        return one != other
    x, y = (np.array(line.split()[2:], float) for line in (one, other))
    same = x.shape == y.shape and np.allclose(x, y, tolerance, tolerance, equal_nan=True)
    return not same or bool((np.signbit(x) != np.signbit(y))[x == 0].any())


@pytest.mark.parametrize(
    ("family", "numbers"),
    [
        ("first", "any"),
        ("first", "special"),
        ("activations", "special"),
        ("criterions", "any"),
        ("criterions", "special"),
        ("layers", "any"),
    ],
)
def test_lua_computes_what_python_computes(
    engine: Engine, capfd: pytest.CaptureFixture[str], family: str, numbers: str
) -> None:
    dense, gaps = (run(engine, capfd, family, layout, numbers) for layout in ("dense", "gaps"))
    assert dense.keys() == gaps.keys() != set()
    wrong = [
        (head, *pair)
        for head, lines in dense.items()
        if numbers == "any" or EACH.match(head)
        for pair in zip(lines, gaps[head], strict=True)
        if differs(*pair, 4e-6 if " Float " in head else 1e-12)
    ]
    assert wrong == []
