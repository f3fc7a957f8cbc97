"""The pictures of README show what th prints."""

import pytest

from tests.pictures import COLUMNS, PICTURES, TOP, drawn


@pytest.mark.thorough
@pytest.mark.parametrize("place", PICTURES)
def test_a_picture_is_current(place: str) -> None:
    assert (TOP / place).read_text("utf-8") == PICTURES[place](), "run python -m tests.pictures"
    assert place in (TOP / "README.md").read_text()


def test_what_a_terminal_shows() -> None:
    picture = drawn(b"one\rt\x1b[31mw<\x1b[0m 3\r\n\x1b[1m[0.1234s]ok\x1b[0m\r\nth> ")
    assert picture.count("<text") == 4 and "th>" not in picture  # nothing is typed at the last
    assert '<text x="20.4" y="26" xml:space="preserve" textLength="16.8" fill="#e06c75">w&lt;<' in (
        picture
    )
    assert 'font-weight="bold">         ok</text>' in picture
    assert "s]" not in picture and f'width="{COLUMNS * 8.4 + 24:g}"' in picture
