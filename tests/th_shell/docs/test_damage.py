"""Printed texts that contradict themselves are told from those that the program contradicts."""

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs.judging.reasons import damage
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind

TENSOR = " 1\n 2\n[torch.DoubleTensor of size 2]"


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        (TENSOR, ""),
        ("[torch.DoubleTensor with no dimension]", ""),
        ("some words", ""),
        (
            " 1\n 2\n[torch.DoubleTensor of size 3]",
            "the text contradicts its last line, 3: 2 numbers for 3 elements",
        ),
        (
            " 1 2\n 3 4\n[torch.DoubleTensor of size 4x1]",
            "the text contradicts its last line, 4x1: the numbers are in other rows",
        ),
        (
            "1 2 [torch.DoubleTensor of size 2]",
            "the line with the sizes is no line of its own: [torch.DoubleTensor of size 2]",
        ),
        ("1 2\n3", "the rows have different lengths"),
        ("1\n2", "the line with the class and the sizes is missing"),
        ("y = x\\{1\\}", "backslashes stand before brackets"),
    ],
)
def test_texts(expected: str, problem: str) -> None:
    example = Example(1, 0, Kind.PROMPT, "x", expected)
    assert damage(example, TENSOR, Compiler()) == problem


def test_rows_that_a_loop_prints_are_whole() -> None:
    example = Example(1, 0, Kind.PROMPT, "for i = 1, 2 do print(i) end", "1\n3")
    assert damage(example, "1\n2\n", Compiler()) == ""


def test_a_number_before_a_tensor_is_no_part_of_it() -> None:
    loop = "for i, x in ipairs(t) do print(i, x) end"
    text = "1\n 5\n 6\n[torch.DoubleTensor of size 2]"
    example = Example(1, 0, Kind.PROMPT, loop, text)
    assert damage(example, "1\t 7\n 8\n[torch.DoubleTensor of size 2]\n", Compiler()) == ""
    found = damage(example, " 7\n 8\n[torch.DoubleTensor of size 2]\n", Compiler())
    assert found == "the text contradicts its last line, 2: 3 numbers for 2 elements"


def test_an_input_that_does_not_compile() -> None:
    example = Example(1, 0, Kind.PROMPT, "f(", "1")
    assert damage(example, "", Compiler()) == "the input is not whole: it does not compile"


@pytest.mark.parametrize(("source", "expected", "problem"), data(__file__, "test_texts_of_python"))
def test_texts_of_python(source: str, expected: str, problem: str) -> None:
    example = Example(1, 0, Kind.PROMPT, source, expected, language="python")
    assert damage(example, "tensor([5.])", Compiler()) == problem


@pytest.mark.thorough
def test_only_what_fails_is_damaged(check_text: CheckPage) -> None:
    page = "```\n> torch.ones(2)\n 1\n 1\n[torch.DoubleTensor of size 3]\n> 1 1\n```\n"
    found = check_text(page)
    assert [r.verdict.value for r in found.results] == ["damaged", "damaged"]
    assert found.failed
