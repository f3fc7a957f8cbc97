"""Lines of Python are indented while they are typed."""

from __future__ import annotations

import pytest
from prompt_toolkit.buffer import Buffer

from tests.data_files import data
from th_shell.python.prompt import MARGINS
from th_shell.terminal.keys import Indenter


def typed(keys: str, width: int = 4) -> str:
    """The text of a buffer in which keys were pressed; a newline is Enter."""
    indenter, buffer = Indenter(width, MARGINS), Buffer()
    indenter.watch(buffer)
    for key in keys:
        if key == "\n":
            indenter.newline(buffer, typed=True)
        else:
            buffer.insert_text(key)
    return buffer.text


@pytest.mark.parametrize("expected", data(__file__, "test_lines_are_indented"))
def test_lines_are_indented(expected: str) -> None:
    # What Enter and the closing words put there is not typed.
    keys = "\n".join(line.lstrip(" ") for line in expected.split("\n"))
    assert typed(keys) == expected


def test_the_width_is_configured() -> None:
    assert typed("if x:\ny", 2) == "if x:\n  y"
    assert typed("if x:\ny", 0) == "if x:\ny"
