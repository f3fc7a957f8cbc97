from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine
from th_shell.session.commands import is_command
from th_shell.session.inputs import placed, split
from th_shell.session.session import Session
from th_shell.syntax import Syntax


@pytest.fixture(scope="module")
def engine() -> Engine:
    """One for all tests of the module."""
    return Engine()


FUNCTION = "function f(x)\n\n  return x -- same\nend"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n  \n-- a remark\n", []),
        ("x", ["x"]),
        ("x = 1\nx", ["x = 1", "x"]),
        (FUNCTION, [FUNCTION]),
        (f"\n{FUNCTION}\n\nf(3)\n", [FUNCTION, "f(3)"]),
        ("{1,\n2}\n3", ["{1,\n2}", "3"]),
        ("x = [[\nthen\n]]\nx", ["x = [[\nthen\n]]", "x"]),
        ("--[[ long\nremark ]]\nx", ["--[[ long\nremark ]]", "x"]),
        ("x = = 1\ny = 2", ["x = = 1", "y = 2"]),
        ("end\nx", ["end", "x"]),
        ("? torch.add(\nx", ["? torch.add(", "x"]),
        ("$ echo (\nx", ["$ echo (", "x"]),
        ("for i = 1, 2 do\nprint(i)", ["for i = 1, 2 do\nprint(i)"]),
        # Lines end as Lua has them.
        ("-- a\fprint('run!')\nx", ["x"]),
        ('print(#"a\u2028b")', ['print(#"a\u2028b")']),
        ("x = [[a\x1c\x85b]]", ["x = [[a\x1c\x85b]]"]),
        ("-- a\rx\r\ny\n\rz", ["x", "y", "z"]),
        # An input is what was typed.
        ("x = [[a   \n\tb \n ]]  ", ["x = [[a   \n\tb \n ]]  "]),
        (" \tfor i = 1, 2 do  \n\tend\n x", [" \tfor i = 1, 2 do  \n\tend", " x"]),
    ],
)
def test_inputs_end_where_lua_says_so(session: Session, text: str, expected: list[str]) -> None:
    assert session.inputs(text) == expected


@pytest.mark.parametrize("text", ["local a = 3\n\nprint(a)", "local a = 3\nprint(a)\n;\n"])
def test_locals_do_not_join_inputs(session: Session, text: str) -> None:
    assert session.inputs(text) == ["local a = 3", "print(a)"]


TRANSCRIPT = data(__file__, "TRANSCRIPT")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRANSCRIPT, ["x = 1", "x", "for i = 1, 2 do\n  print(i)\nend"]),
        ("> f = function()\n  return 1\nend\n> f()\n1", ["f = function()\n  return 1\nend", "f()"]),
        ("> for i = 1, 2 do\n>> print(i)\n>> end\n1", ["for i = 1, 2 do\nprint(i)\nend"]),
    ],
)
def test_of_a_transcript_only_what_stands_behind_prompts(
    session: Session, text: str, expected: list[str]
) -> None:
    assert session.inputs(text) == expected


@pytest.mark.parametrize(("text", "more"), data(__file__, "test_whether_an_input_goes_on"))
def test_whether_an_input_goes_on(session: Session, text: str, more: bool) -> None:
    assert session.wants_more(text) is more


@pytest.mark.parametrize(
    "text",
    [
        "function f()\n" + "  x = 1\n" * 2000 + "end",
        "x = 0\n" * 2000,
        "x = {" + "1,\n" * 2000 + "}",
        "x = 1 +\n" * 2000 + "1",
        "x = [[\n" + "line\n" * 2000 + "]]",
        "x = 'a \\\n" + "line\\\n" * 2000 + "'",
        "x = {\n" + "1 1,\n" * 2000 + "}",
        "function f()\n" + "  x = 1\n" * 2000,
    ],
)
def test_what_is_compiled_is_in_proportion_to_the_text(session: Session, text: str) -> None:
    compiled = 0

    def judge(piece: str) -> Syntax:
        nonlocal compiled
        compiled += len(piece)
        return session.judge(piece)

    split(text, judge)
    assert compiled < 4 * len(text)


def test_what_is_wrong_ends_with_the_first_line_that_makes_it_so(session: Session) -> None:
    lines = ["x = {", *["1,"] * 20, "2 2,", *["3,"] * 20, "}", "y = 1"]
    first, *_, last = session.inputs("\n".join(lines))
    assert first == "\n".join(lines[:22])
    assert last == "y = 1"


@pytest.mark.parametrize(
    ("text", "expected"), [("? x", True), (" $ ls", True), ("x", False), ("", False)]
)
def test_lines_for_the_shell_itself(text: str, expected: bool) -> None:
    assert is_command(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", ["x = 1"]),
        ("\nx = 1\n\n  y = 2  \nx = 1", ["\nx = 1", "\n\n\n  y = 2  ", "\n\n\n\nx = 1"]),
        (f"-- a remark\n{FUNCTION}\nf(1)", [f"\n{FUNCTION}", "\n\n\n\n\nf(1)"]),
    ],
)
def test_inputs_are_placed_at_their_lines(session: Session, text: str, expected: list[str]) -> None:
    assert list(placed(text, split(text, session.judge))) == expected
