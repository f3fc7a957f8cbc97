from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine, Interrupted, LuaError
from th_shell.session.conversation import UNICODE
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.mark.sample(10)
@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_what_an_input_prints"))
def test_what_an_input_prints(session: Session, printed: Printed, text: str, expected: str) -> None:
    assert session.submit(text)
    assert printed() == expected


def test_a_question_mark_alone_gives_an_overview(session: Session, printed: Printed) -> None:
    session.submit("?")
    assert printed().startswith("th runs Lua, line by line, with torch in it.")


@pytest.mark.parametrize(("text", "hints"), data(__file__, "test_hints_are_for_prompts_only"))
def test_hints_are_for_prompts_only(
    session: Session, printed: Printed, text: str, hints: str
) -> None:
    session.submit(text)
    plain = printed()
    session.hints = True
    session.submit(text)
    assert printed() == plain + hints


def test_help_shows_control_codes_as_digits(session: Session, printed: Printed) -> None:
    session.submit("text = '\\27[2J'\n? text")
    assert printed() == 'text: string of 4 bytes: "\\027[2J"\n'


@pytest.mark.parametrize("text", ["exit", "exit()", "x = 1\nexit\nprint(2)"])
def test_exit_leaves(session: Session, printed: Printed, text: str) -> None:
    assert not session.submit(text)
    assert printed() == ""


def test_the_time_stands_at_the_right(engine: Engine, printed: Printed) -> None:
    Session(engine, marks=UNICODE._replace(time="<{}>")).submit("x = 1")
    line = printed()
    assert line[:72] == " " * 70 + "<["
    assert line[72:].replace("0", "").endswith("s]>\n")


def test_bytes_that_are_no_text_survive(session: Session, printed: Printed) -> None:
    session.submit("#'\udcff\udcfe'")
    assert printed() == "2\t\n"


def test_inputs_of_a_cell(engine: Engine, printed: Printed) -> None:
    """They have the cell's number and lines; the first error is taken, and ends the text."""
    session, errors = Session(engine, numbered=True), list[LuaError]()
    session.take_error = errors.append
    with session.in_cell(7, above=2):
        session.submit("x = 5\n\nx.y.z = 1\nx = 6")
    assert [error.message for error in errors] == [
        "[7]:5: attempt to index global 'x' (a number value)"
    ]
    with session.in_cell(0):
        session.submit("x")
    assert printed() == "5\t\n"
    session.take_error = None
    session.submit("x:y()")
    assert [(entry.number, entry.source) for entry in session.log] == [
        (7, "\n\nx = 5"),
        (7, "\n\n\n\nx.y.z = 1"),
        (3, "x:y()"),
    ]
    assert printed().startswith("[3]:1: attempt to index global 'x' (a number value)\n")


@pytest.mark.parametrize("text", ["x = 1", "%who"])
def test_ctrl_c_beside_an_input_ends_no_session(
    session: Session, printed: Printed, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def pressed(*_: object) -> None:
        raise Interrupted("interrupted!")

    monkeypatch.setattr(session, "hints_on_value", pressed)
    monkeypatch.setattr(type(session.engine.inputs), "evaluate", pressed)
    assert session.submit(text)
    assert printed() == "interrupted!\n"
