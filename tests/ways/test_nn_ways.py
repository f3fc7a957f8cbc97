"""The ways to compute nn's functions give the same: Lua, Python with any limits, any threads."""

import re

import pytest

from tests.conftest import run_text
from tests.limits import Limits
from tests.runtime.thnn.test_paths import python_alone, run
from tests.runtime.thnn.test_recorded import FAMILIES, Answers, differs
from th_shell.runtime.shell import Engine
from th_shell.runtime.thnn.table import TABLE


def _different(found: Answers, expected: Answers) -> list[tuple[str, str, str]]:
    """Where answers differ in more than last digits, which sums give in another order."""
    assert found.keys() == expected.keys() != set()
    return [
        (head, *pair)
        for head, lines in expected.items()
        for pair in zip(found[head], lines, strict=True)
        if differs(*pair, 4e-6 if " Float " in head else 1e-12)
    ]


#: What functions read and do not change, by their parameters' names.
_READ_ONLY = re.compile(r"input\d?|gradOutput\d?|target|weights?|bias|noise|indices|keys|offsets")


def _read_only() -> str:
    """Return which arguments of nn's functions are only read, as run_cases.lua takes it."""
    return "".join(
        f" {row.name}:{position} "
        for row in TABLE.values()
        for position, name in enumerate(row.names, 1)
        if _READ_ONLY.fullmatch(name) and "pdateParameters" not in row.name
    )


@pytest.mark.thorough
@pytest.mark.parametrize(("layout", "other"), [("dense", "gaps"), ("copied", "shared")])
@pytest.mark.parametrize("family", FAMILIES)
def test_limits_and_threads_change_nothing(
    family: str, layout: str, other: str, capfd: pytest.CaptureFixture[str]
) -> None:
    more = ("any", "", "", _read_only()) if other == "shared" else ("any",)
    with Engine() as engine:
        run_text(engine, "torch.setnumthreads(1)")
        expected = run(engine, capfd, family, layout, *more, cases="5 2")
    with python_alone() as engine:
        limits = Limits("compute", "ops", "thnn")
        try:
            for limit, threads in ((16, 1), (1 << 30, 1), (16, 2), (None, 3)):
                limits.set(limit)
                run_text(engine, f"torch.setnumthreads({threads})")
                found = run(engine, capfd, family, other, *more, cases="5 2")
                assert _different(found, expected) == []
        finally:
            limits.set(None)
