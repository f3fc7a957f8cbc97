"""Tensors, arrays and numbers are read from what Python prints, and go where they were printed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.documented_values import (
    cell_to_adopt,
    code_to_adopt,
    printed_array,
    shown_texts,
)
from th_shell.docs.judging.printout import PrintedTensor
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner
from th_shell.python_syntax import shown_name


def example(source: str, expected: str) -> Example:
    return Example(1, 0, Kind.PROMPT, source, expected, language="python")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tensor([0.25, -1., nan])", (3,)),
        ("tensor([[1.5, 2.0],\n        [-inf, 4.0]], dtype=torch.float64)", (2, 2)),
        ("tensor([[1.5]], grad_fn=<AddBackward0>)", (1, 1)),
        ("tensor([[1.5]], device='cuda:0', requires_grad=True)", (1, 1)),
        ("tensor(3)", ()),
        ("array([[1, 2, 3]])", (1, 3)),
        ("[[ 1.  -2.5]\n [nan  3. ]]", (2, 2)),
        ("[1, 2]", None),
        ("tensor([])", None),
        ("tensor([0.25, ..., 3.])", None),
        ("tensor([True, False])", None),
        ("tensor([[1.], [2., 3.]])", None),
        ("tensor([1.]) and more", None),
        ("numbers([1.])", None),
        ("[1., 2.]", None),
    ],
)
def test_printed_arrays(text: str, found: tuple[int, ...] | None) -> None:
    array = printed_array(text)
    assert (array and array.sizes) == found


def test_numbers_and_their_units() -> None:
    found = printed_array("tensor([1.25e+01, 2., 0.1235])")
    assert found == PrintedTensor("tensor", (3,), (12.5, 2.0, 0.1235), (0.1, 0.0, 1e-4), count=3)
    # numpy shows all digits of a number, up to eight.
    found = printed_array("array([0.12, 0.5 ])")
    assert found and found.units == (0.0, 0.0)
    found = printed_array("array([0.12345678, 0.5       ])")
    assert found and found.units == (1e-8, 0.1)


@pytest.mark.parametrize(("source", "name"), data(__file__, "test_names_that_are_shown"))
def test_names_that_are_shown(source: str, name: str) -> None:
    assert shown_name(source) == name


@pytest.mark.parametrize("source", ["x", "print(x)", "draw()"])
def test_arrays_take_the_numbers_over(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((2, 2))
    monkeypatch.setattr("builtins._", x, raising=False)
    code = code_to_adopt(example(source, "array([[1., nan],\n       [0.5, -inf]])"))
    names: dict[str, Any] = {"x": x, "__builtins__": __builtins__}
    exec(code, names)
    np.testing.assert_array_equal(x, [[1, np.nan], [0.5, -np.inf]])
    assert set(names) == {"x", "__builtins__"}


@pytest.mark.parametrize("value", [np.zeros(3), np.zeros(()), 4.0, None, "text"])
def test_what_has_other_sizes_stays_as_it_is(value: object) -> None:
    before = repr(value)
    exec(code_to_adopt(example("x", "array([[1., 2.]])")), {"x": value})
    assert repr(value) == before


@pytest.mark.parametrize(
    ("text", "value"), [("17", 17), ("-0.25", -0.25), ("nan", None), ("1e400", float("inf"))]
)
def test_variables_take_numbers_over(text: str, value: float | None) -> None:
    names: dict[str, Any] = {"x": 1}
    exec(code_to_adopt(example("x", text)), names)
    assert names["x"] == value if value is not None else names["x"] != names["x"]
    assert type(names["x"]) is (int if text == "17" else float)


@pytest.mark.parametrize(("source", "expected"), [("f()", "0.25"), ("x", "words"), ("x", "1, 2")])
def test_what_nothing_takes_over(source: str, expected: str) -> None:
    assert code_to_adopt(example(source, expected)) == ""


def test_numbers_are_varied_within_their_rounding() -> None:
    x = np.zeros(3)
    exec(code_to_adopt(example("x", "tensor([0.5000, 0.2500, 3.])"), vary=True), {"x": x})
    assert x[2] == 3 and 0 < abs(x[0] - 0.5) <= 5e-5 and 0 < abs(x[1] - 0.25) <= 5e-5


# -- cells that show several values

SOURCE = data(__file__, "SOURCE")
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
