"""Where inputs of Python end, and what of a pasted text is an input."""

from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.python.session import PythonSession
from th_shell.python.source_text import inputs, is_page, wants_more


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_whether_an_input_goes_on"))
def test_whether_an_input_goes_on(text: str, expected: bool) -> None:
    assert wants_more(text) is expected


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_the_inputs_of_a_text"))
def test_the_inputs_of_a_text(text: str, expected: list[str]) -> None:
    assert inputs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> x", True),
        ("x >> y", False),
        ("s = '''\n>>> x", False),
        ("In [3]: x", True),
        ("In [1]: x = 1\nIn [2]: x", True),
    ],
)
def test_what_is_a_page(text: str, expected: bool) -> None:
    assert is_page(text) is expected


@pytest.mark.parametrize("text", ["exit", " exit() ", "quit", "quit()"])
def test_what_ends_a_session(text: str) -> None:
    session = PythonSession({})
    assert session.is_exit(text) and not session.is_exit(f"x = {text}")
