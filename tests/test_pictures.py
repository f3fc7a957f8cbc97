"""The pictures of README show what th prints."""

import re
from pathlib import Path

import pytest

from tests.pictures import (
    COLUMNS,
    RECORDING,
    REPORT,
    SESSION,
    TOP,
    Part,
    drawn,
    read,
    report,
    session,
    write,
)

README = (TOP / "README.md").read_text()


@pytest.mark.thorough
def test_the_picture_of_a_report_is_current() -> None:
    assert (TOP / REPORT).read_text("utf-8") == report(), "run python -m tests.pictures"


@pytest.mark.thorough
def test_the_recording_ends_as_the_session_does_now() -> None:
    recorded, now = (
        Part(0, b"".join(part.sent for part in parts)) for parts in (read(RECORDING), session())
    )
    assert drawn([recorded]) == drawn([now]), "run python -m tests.pictures"


def test_the_picture_of_the_session_is_that_of_its_recording() -> None:
    assert (TOP / SESSION).read_text("utf-8") == drawn(read(RECORDING))
    assert SESSION in README


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    parts = [Part(0, b"th> "), Part(1.5, "\x1b[1m…".encode())]
    write(tmp_path / "x.cast", parts)
    assert read(tmp_path / "x.cast") == parts


def test_what_comes_later_in_a_picture() -> None:
    """A text stands there when it is as at the end for the last time."""
    picture = drawn([Part(0, b"one"), Part(1, b"\rtwo"), Part(2, b"\rone\r\nx"), Part(3, b"y")])
    assert re.findall(r"delay:(\w+)\">(\w+)<", picture) == [("2s", "one"), ("3s", "xy")]
    assert "prefers-reduced-motion" in picture and "animation" not in drawn([Part(0, b"one")])


def test_what_a_terminal_shows() -> None:
    picture = drawn([Part(0, b"one\rt\x1b[31mw<\x1b[0m 3\r\n\x1b[1m[0.1234s]ok\x1b[0m\r\nth> ")])
    assert picture.count("<text") == 4 and "th>" not in picture  # nothing is typed at the last
    assert '<text x="20.4" y="26" xml:space="preserve" textLength="16.8" fill="#e06c75">w&lt;<' in (
        picture
    )
    assert 'font-weight="bold">         ok</text>' in picture
    assert "s]" not in picture and f'width="{COLUMNS * 8.4 + 24:g}"' in picture
