"""Which comments tell values, and of what; and what becomes of an example with such a comment."""

from pathlib import Path

import pytest

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
    [
        ("math.max(1, 3) --> 3", "pass", ""),
        ("math.max(1, 3) --> 2", "differs", "its comment says: 2"),
        ("1 + 2 -- => 3", "pass", ""),
        ("1 + 2 -- => 4", "differs", "its comment says: 4"),
        ("x = 1 + 2 -- => 3", "pass", ""),
        ("local x = 1 + 2 -- => 4", "differs", "its comment says: 4"),
        ("a, b = 'x', 2 --> 'x', 2", "pass", ""),
        ("a, b = 'x', 2 --> x, 2", "pass", ""),
        ("a, b = 'x', 2 --> 'y', 2", "differs", "its comment says: 'y', 2"),
        ("t = {1, {x = 2}} --> {1, {x = 2}}", "pass", ""),
        ("t = {1, {x = 2}} --> {1, {x = 3}}", "differs", "its comment says: {1, {x = 3}}"),
        ("t = {1, 'a'} --> \"{1, 'a'}\"", "pass", ""),
        ("t = math.sin(2) --> 0.9093", "pass", ""),
        ("t = math.sin(2) --> 0.9091", "differs", "its comment says: 0.9091"),
        ("t = {1, 2, 3} --> {1, 2 2, 3}", "differs", "its comment says: {1, 2 2, 3}"),
        ("1 + 2 --> 3 3", "differs", "its comment says: 3 3"),
        ("1 + 2 --> nan", "differs", "its comment says: nan"),
        ("1 + 2 -- 3 3", "differs", "its comment says: 3 3"),
        ("1 + 2 --> (see page 4)", "ran", ""),
        ("t = 1 + 2 -- 4 4", "ran", ""),
        ("t = {} --> table: 0x01", "ran", ""),
        ("t = torch.Tensor(2) --> a tensor", "ran", ""),
        ("t = 5 --> nice", "ran", ""),
        ("for i = 1, 2 do end --> 2", "ran", ""),
        ("> local x = 1 --> 2", "ran", ""),
        ("> x = 1 --> 2", "differs", "its comment says: 2"),
        ("math.abs(torch.uniform()) --> 0.1234", "layout", ""),
        ("print(1 / 3) -- will print 0.33", "pass", ""),
        ("print(1 / 3) -- will print 0.34", "differs", "its comment says: 0.34"),
        ("print('hi') -- will print \"ho\"", "differs", 'its comment says: "ho"'),
        ("print(3) -- should print 4", "differs", "its comment says: 4"),
        ("print(3) -- this prints 4", "differs", "its comment says: 4"),
        ("print(3) -- prints out 4", "differs", "its comment says: 4"),
        ("x = 3 -- gives 4", "differs", "its comment says: 4"),
        ("x = 3 -- gives 3", "pass", ""),
        ("x = 3 -- this gives a number", "ran", ""),
        ("print(3) -- the result is 4", "differs", "its comment says: 4"),
        ("print(3) -- Result: 3", "pass", ""),
        ("print(3) -- output is 4", "differs", "its comment says: 4"),
        ("print(3) -- Expected: 4", "differs", "its comment says: 4"),
        ("print(3) -- value: 3", "pass", ""),
        ("torch.totable(torch.ones(2)) -- {1, i}", "differs", "its comment says: {1, i}"),
        ("torch.totable(torch.ones(2)) -- {width, height}", "ran", ""),
        ("print(3) -- prints 2; the first", "differs", "its comment says: 2; the first"),
        ("print(3) -- prints 3; the first", "pass", ""),
        ("print('So~4') -- Imprime 'So~4'.", "pass", ""),
        ("print('So~4') -- Imprime 'Xo~4'.", "differs", "its comment says: Imprime 'Xo~4'."),
        ("print('So~4') -- Prints 'other'.", "differs", "its comment says: 'other'"),
        ("print('hello all') -- imprime hello all", "pass", ""),
        ("print('Bob') -- access by 'name'", "ran", ""),
        ("print('tau') -- \"tau\"가 출력", "pass", ""),
        ("print('tau') -- \"tax\"가 출력", "differs", 'its comment says: "tax"가 출력'),
        ("print('Bob') -- 'name' is the key", "ran", ""),
    ],
)
def test_verdicts(runner: Runner, tmp_path: Path, line: str, verdict: str, note: str) -> None:
    (result,) = judged(runner, tmp_path, line)
    assert (result.verdict.value, result.note) == (verdict, note)


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
