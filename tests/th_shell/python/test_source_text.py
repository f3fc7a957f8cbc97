"""Where inputs of Python end, what of a pasted text is an input, and how lines are indented."""

import pytest
from prompt_toolkit.buffer import Buffer

from tests.data_files import data
from th_shell.python.prompt import MARGINS
from th_shell.python.session import PythonSession
from th_shell.python.source_text import inputs, is_page, wants_more
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


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_whether_an_input_goes_on"))
def test_whether_an_input_goes_on(text: str, expected: bool) -> None:
    assert wants_more(text) is expected


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_the_inputs_of_a_text"))
def test_the_inputs_of_a_text(text: str, expected: list[str]) -> None:
    assert inputs(text) == expected


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_what_is_a_page"))
def test_what_is_a_page(text: str, expected: bool) -> None:
    assert is_page(text) is expected


@pytest.mark.parametrize("text", ["exit", " exit() ", "quit", "quit()"])
def test_what_ends_a_session(text: str) -> None:
    session = PythonSession({})
    assert session.is_exit(text) and not session.is_exit(f"x = {text}")
