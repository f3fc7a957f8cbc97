"""Cells that show several values take documented numbers over behind each print."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from th_shell.docs.checking import check_page
from th_shell.docs.judging.documented_values import cell_to_adopt, shown_texts
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

SOURCE = """\
x = random()
text = '''two

lines'''
print(x)
y = 2 * x
y"""
PAGE = "array([0.25, 0.5])\n\narray([0.5, 1.])"
RUNS = ["array([0.1, 0.2])\narray([0.2, 0.4])", "array([0.3, 0.4])\narray([0.6, 0.8])"]


def cell(source: str = SOURCE, expected: str = PAGE, kind: Kind = Kind.CELL) -> Example:
    return Example(1, 0, kind, source, expected, language="python")


def test_what_follows_is_computed_of_documented_numbers() -> None:
    names: dict[str, Any] = {"random": lambda: np.array([0.1, 0.2])}
    exec(cell_to_adopt(cell(), RUNS), names)
    assert (names["y"].tolist(), names["text"]) == ([0.5, 1.0], "two\n\nlines")


@pytest.mark.parametrize(
    ("example", "runs"),
    [
        (cell(), [RUNS[0], RUNS[0]]),  # nothing depends on chance
        (cell(expected="array([0.25, 0.5])"), RUNS),
        (cell(), [RUNS[0], "array([0.3, 0.4])"]),
        (cell(SOURCE.replace("print(x)", "print(x, 1)")), RUNS),
        (cell("print(x); y = 2 * x\ny"), RUNS),
        (cell("x", "array([0.25])"), ["array([0.1])", "array([0.2])"]),
        (cell(kind=Kind.PROMPT), RUNS),
    ],
)
def test_cells_that_stay_as_they_are(example: Example, runs: list[str]) -> None:
    assert cell_to_adopt(example, runs) == ""


def test_texts_of_several_prints() -> None:
    assert shown_texts("1\n\ntensor([[1.],\n\n        [2.]])\n(2, 1)\n") == [
        "1",
        "tensor([[1.],\n\n        [2.]])",
        "(2, 1)",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(("shown", "verdict"), [("0.5 , 1.5", "layout"), ("0.5 , 1.25", "differs")])
def test_a_page(runner: Runner, tmp_path: Path, shown: str, verdict: str) -> None:
    page = tmp_path / "page.txt"
    page.write_text(
        "In [1]:\nimport numpy as np\nx = np.random.rand(2)\nprint(repr(x))\nprint(x)\n2 * x\n\n"
        f"array([0.25, 0.75])\n[0.25 0.75]\n\narray([{shown}])\n"
    )
    (found,) = check_page(read(page, Compiler()), runner).results
    assert found.verdict.value == verdict
