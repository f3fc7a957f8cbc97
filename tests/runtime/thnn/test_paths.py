"""Small calls that Lua computes give what Python gives, also for nans, infinities and zeros.

Lua's formulas and kernels take contiguous tensors alone: the same numbers with gaps between them go
to Python.
"""

from __future__ import annotations

import numpy as np
import pytest

from runtime import Engine
from tests.runtime.thnn.test_recorded import HERE, Answers, answers

# Of these, all elements of the results follow from the same elements of the arguments.
EACH = (
    "^Abs ^ELU ^HardShrink ^HardTanh ^LeakyReLU ^PReLU_up ^Sigmoid ^SoftPlus ^SoftShrink ^Sqrt "
    "^Square ^Tanh ^Threshold ^LogSigmoid ^AbsCriterion ^DistKL.*Grad ^Margin.*Grad ^MSE.*Grad "
    "^SmoothL1 ^SoftMargin ^BCE.*Grad ^L1Cost ^GatedLinear"
).split()


def run(engine: Engine, capfd: pytest.CaptureFixture[str], family: str, *more: str) -> Answers:
    arguments = [f"{HERE}/cases/{family}.lua", "3", "6", *more]
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


def differences(dense: Answers, gaps: Answers) -> list[tuple[str, str, str]]:
    assert dense.keys() == gaps.keys() != set()
    return [
        (head, *pair)
        for head, lines in dense.items()
        for pair in zip(lines, gaps[head], strict=True)
        if differs(*pair, 4e-6 if " Float " in head else 1e-12)
    ]


@pytest.mark.parametrize("family", ["first", "activations", "criterions", "layers"])
def test_lua_computes_what_python_computes(
    family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with Engine() as engine:
        found = [run(engine, capfd, family, "", layout) for layout in ("dense", "gaps")]
    assert differences(*found) == []


@pytest.mark.parametrize("family", ["first", "activations", "criterions"])
def test_lua_treats_special_numbers_as_python_does(
    family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with Engine() as engine:
        for names in EACH:
            dense, gaps = (
                run(engine, capfd, family, names, layout, "special")
                for layout in ("dense", "gaps")
            )
            if dense:
                assert differences(dense, gaps) == []
