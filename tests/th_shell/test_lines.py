"""Lines end where the language of a text says so, and nowhere else."""

import ast
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.lines import lua_lines, usual_lines

TOP = Path(__file__).resolve().parents[2]
#: What `str.splitlines` takes for ends of lines, and no language does.
OTHERS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c"]),
        (f"a{OTHERS}b\n", [f"a{OTHERS}b"]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert lua_lines(text) == usual_lines(text) == lines


def test_two_ends_side_by_side_are_one_in_lua() -> None:
    assert lua_lines("a\n\rb\n\r\rc") == ["a", "b", "", "c"]
    assert usual_lines("a\n\rb") == ["a", "", "b"]


#: Who may ask Python for lines, and why: what is split is no program, and none of a person's text.
NO_PROGRAMS = data(__file__, "NO_PROGRAMS")


@pytest.mark.thorough
def test_no_module_asks_python_for_the_lines_of_a_program() -> None:
    found = {
        str(path.relative_to(TOP))
        for room in ("runtime", "th_shell")
        for path in (TOP / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    }
    assert found == NO_PROGRAMS.keys()
