"""How a prompt shows errors: colours, and lines that are broken at words."""

import pytest

from th_shell.config import Config
from th_shell.paragraphs import broken
from th_shell.runtime.shell import Engine
from th_shell.session.conversation import PageMarks
from th_shell.session.session import Session

MARKS = PageMarks("", "", "", "", "<bad {}>", "<faint {}>", "<note {}>", "<strong {}>")


@pytest.fixture
def shown(engine: Engine, capfd: pytest.CaptureFixture[str]) -> str:
    session = Session(engine, config=Config(), numbered=True, marks=MARKS)
    session.serve_person()
    session.submit("function f()\n  local t = {}\n  return tt.x\nend\nerror('a\\27b')\nf()")
    engine.flush()
    return capfd.readouterr().out


def test_what_stands_out(shown: str) -> None:
    assert shown == (
        "<bad [2]:1: a\\027b>\n<faint stack traceback:>\n<faint \t[C]: in function 'error'>\n"
        "\t[2]:1: in main chunk\n"
        "<bad [1]:3: attempt to index global 'tt' (a nil value)>\n<faint stack traceback:>\n"
        "\t[1]:3: in function 'f'\n\t[3]:1: in main chunk\n"
        "[1]:3:  return <strong tt>.x\n"
    )


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("  one two three", 11, ["  one two", "    three"]),
        ("one-two three", 8, ["one-two", "  three"]),
        ("a-word-that-has-no-room at all", 10, ["a-word-that-has-no-room", "  at all"]),
        ("\ttab and words", 14, ["        tab", "       and", "       words"]),
    ],
)
def test_lines_are_broken_at_words(line: str, width: int, lines: list[str]) -> None:
    assert broken(line, width).split("\n") == lines
