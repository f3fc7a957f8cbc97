"""Texts as the width of the screen allows: paragraphs, and two columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

MOST_LINES = 30  # of one thing that are shown
MOST_NAMES = 1000  # that are listed, or compared with a name that is not there


def line_width() -> int:
    """The columns that a line of help may have."""
    return max(min(shutil.get_terminal_size().columns, 80) - 2, 20)


def filled(text: str, indent: int = 0) -> str:
    """A paragraph behind a margin."""
    margin = " " * indent
    lines = textwrap.wrap(text, line_width(), initial_indent=margin, subsequent_indent=margin)
    return "\n".join(lines) + "\n"


def two_columns(rows: Sequence[tuple[str, str]]) -> str:
    """Names and what they mean: below the names where the screen is narrow."""
    width = max(len(name) for name, _ in rows) + 4
    if width > line_width() // 2:
        return "".join(f"  {name}\n{filled(meaning, 4)}" for name, meaning in rows)
    return "".join(
        f"  {name}".ljust(width) + filled(meaning, width).lstrip() for name, meaning in rows
    )


#: What keys do at every prompt.
_KEYS = (
    ("Up, Ctrl-R, Right", "former inputs: of that beginning, searched, in grey"),
    ("Ctrl-X Ctrl-E", "the input in $EDITOR"),
    ("Ctrl-C", "drops the line, or stops what runs"),
    ("Ctrl-\\", "gives up on what does not stop"),
    ("exit, Ctrl-D", "leave"),
)


def overview(intro: str, rows: Sequence[tuple[str, str]], outro: str) -> str:
    """What a prompt is, on one screen: its own commands and keys."""
    return f"{filled(intro)}\n{two_columns([*rows, *_KEYS])}\n{filled(outro)}"


def counted(number: int, word: str) -> str:
    """A number of things: '1 input', '1,000 inputs'."""
    return f"{number:,} {word}{'s' * (number != 1)}"


def cut(text: str, width: int) -> str:
    """A text of one line, or its beginning where it has more characters."""
    return text if len(text) <= width else text[: width - 1] + "…"
