"""Texts as the width of the screen allows: paragraphs, and two columns."""

import shutil
import textwrap
from collections.abc import Sequence

MOST_LINES = 30  # of one thing that are shown
_NARROW = 50  # columns that are too few for two
MOST_NAMES = 1000  # names at most that are listed, or compared with a wrong one


def line_width() -> int:
    """Return the columns that a line of help may have."""
    return max(shutil.get_terminal_size().columns - 2, 20)


def filled(text: str, indent: int = 0) -> str:
    """Return a paragraph behind a margin."""
    margin = " " * indent
    lines = textwrap.wrap(text, line_width(), initial_indent=margin, subsequent_indent=margin)
    return "\n".join(lines) + "\n"


def broken(line: str, width: int) -> str:
    """Return a line of any text as lines of at most so many columns, broken at words.

    All but the first stand two columns behind its margin.
    """
    line = line.expandtabs()
    margin = " " * min(len(line) - len(line.lstrip()) + 2, width // 2)
    return textwrap.fill(
        line,
        width,
        subsequent_indent=margin,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def two_columns(rows: Sequence[tuple[str, str]]) -> str:
    """Return names beside their meanings; below long names, and below all where the screen is
    narrow.
    """
    widths = [len(name) + 4 for name, _ in rows]
    width = max((candidate for candidate in widths if candidate <= line_width() // 2), default=4)
    if line_width() < _NARROW:
        width = 4
    return "".join(_row(name, meaning, width) for name, meaning in rows)


def _row(name: str, meaning: str, width: int) -> str:
    text = filled(meaning, width)
    is_long = len(name) + 4 > width
    return f"  {name}\n{text}" if is_long else f"  {name}".ljust(width) + text.lstrip()


#: The keys of every prompt.
_KEYS = (
    ("Up, Ctrl-R, Right", "former inputs: of that beginning, searched, in grey"),
    ("Ctrl-X Ctrl-E", "the input in $EDITOR"),
    ("Ctrl-C", "drops the line, or stops what runs"),
    ("Ctrl-\\", "ends th where what runs does not stop"),
    ("exit, Ctrl-D", "leave"),
)


def overview(intro: str, rows: Sequence[tuple[str, str]], outro: str) -> str:
    """Return the overview of a prompt, on one screen: its own commands and keys."""
    return f"{filled(intro)}\n{two_columns([*rows, *_KEYS])}\n{filled(outro)}"


def keys() -> str:
    """Return the rows about the keys of every prompt."""
    return two_columns(_KEYS)


def counted(number: int, word: str) -> str:
    """Return a number of things: '1 input', '1,000 inputs'."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def cut(text: str, width: int) -> str:
    """Return a text of one line, or its beginning where it has more characters."""
    return text if len(text) <= width else text[: width - 1] + "…"
