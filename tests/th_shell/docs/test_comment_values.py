"""Which comments tell values, and of what; and what becomes of an example with such a comment."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Result
from th_shell.docs.reading.comment_values import Value, comment_of, value_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

COMPILER = Compiler()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("f() --> 3", "3"),
        ("f() -- => 3  ", "3"),
        ("f() --=> 3", "3"),
        ("f() -- ==> 3", "3"),
        ("--> 3", "3"),
        ("f() -->", ""),
        ("f('--> 3')", None),
        ("f([[--> 3]]) --[[--> 4]]", None),
        ("f() -- 3", None),
        ("f() --- > 3", None),
        ("f() -- > 3", None),
        ("f() -- see --> 3", None),
        ("f() -->> 3", None),
        ("f()", None),
    ],
)
def test_comments(source: str, text: str | None) -> None:
    assert comment_of(source) == text


@pytest.mark.parametrize(
    ("text", "source", "value"),
    [
        ("3", "f()", Value("3", ("3",))),
        ("1, 'a', nil", "f()", Value("1, 'a', nil", ("1, 'a', nil",))),
        ("{x = {1}}", "f()", Value("{x = {1}}", ("{x = {1}}",))),
        ("\"{'a'}\"", "f()", Value("\"{'a'}\"", ("\"{'a'}\"", "{'a'}"))),
        ("this is nice", "f()", Value("this is nice")),
        ("nice", "f()", Value("nice")),
        ("{1, ...}", "f()", Value("{1, ...}")),
        ("3", "x = f()", Value("3", ("3",), "x")),
        ("3, 4", "x, t.y[1] = f()", Value("3, 4", ("3, 4",), "x, t.y[1]")),
        ("3", "x = 2; y = x + 1", Value("3", ("3",), "y")),
        ("true", "x == 1", Value("true", ("true",))),
        ("3", "local x = f()", None),
    ],
)
def test_values(text: str, source: str, value: Value | None) -> None:
    assert value_of(text, source, COMPILER) == value


def judged(runner: Runner, folder: Path, *lines: str) -> list[Result]:
    page = folder / "page.md"
    page.write_text("\n".join(["```lua", *lines, "```", ""]))
    return list(check_page(read(page, COMPILER), runner).results)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("line", "verdict", "note"),
    data(__file__, "test_verdicts"),
)
def test_verdicts(runner: Runner, tmp_path: Path, line: str, verdict: str, note: str) -> None:
    (result,) = judged(runner, tmp_path, line)
    assert (result.verdict.value, result.note) == (verdict, note)


@pytest.mark.thorough
def test_comments_below_an_input(runner: Runner, tmp_path: Path) -> None:
    results = judged(
        runner,
        tmp_path,
        "for i = 1, 2 do print(i, 'a') end",
        "--> 1 a",
        "--> 2 a",
        "x = 3",
        "-- => 4",
        "print(5)",
        "-->",
        "6",
        "-- => 7",
    )
    found = [(result.example.source.split()[0], result.verdict.value) for result in results]
    assert found == [("for", "pass"), ("x", "differs"), ("print(5)", "differs")]


def test_text_under_the_input_is_what_it_prints(runner: Runner, tmp_path: Path) -> None:
    (result,) = judged(runner, tmp_path, "> 1 + 1 --> 3", "2")
    assert result.verdict.value == "pass"
