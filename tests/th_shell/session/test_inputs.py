from __future__ import annotations

import pytest

from th_shell.session.commands import is_command
from th_shell.session.session import Session

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
    ],
)
def test_inputs_end_where_lua_says_so(session: Session, text: str, expected: list[str]) -> None:
    assert session.inputs(text) == expected


@pytest.mark.parametrize("text", ["local a = 3\n\nprint(a)", "local a = 3\nprint(a)\n;\n"])
def test_locals_do_not_join_inputs(session: Session, text: str) -> None:
    assert session.inputs(text) == ["local a = 3", "print(a)"]


TRANSCRIPT = """
th> x = 1
th> x
1

th> for i = 1, 2 do
..>   print(i)
..> end
1
2
th>
"""


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


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("", False),
        ("x = 1", False),
        ("x =", True),
        ("1 +", True),
        ("x:", True),
        ("f(1,", True),
        ("function f()", True),
        ("x = 1\nfunction f()", True),
        ("function f() end\nx", False),
        ('print("open', False),
        ("x = = 1", False),
        ("end", False),
        ("x = 1 end", False),
        ("? add(", False),
        ("$ ls (", False),
    ],
)
def test_whether_an_input_goes_on(session: Session, text: str, more: bool) -> None:
    assert session.wants_more(text) is more


def test_a_long_function_is_compiled_once_a_line(session: Session) -> None:
    lines = ["function f()"] + ["  x = 1"] * 300
    for count in range(1, len(lines) + 1):
        assert session.wants_more("\n".join(lines[:count]))
    assert session.judge.cache_info().misses == len(lines)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "expected"), [("? x", True), (" $ ls", True), ("x", False), ("", False)]
)
def test_lines_for_the_shell_itself(text: str, expected: bool) -> None:
    assert is_command(text) is expected
