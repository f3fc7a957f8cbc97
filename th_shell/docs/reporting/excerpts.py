"""Parts of long texts, safe to show: few lines, short lines, control codes written as digits.

Examples may print megabytes, in one line or in many. A report shows their beginning and says how
much there is; the results in JSON have all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from th_shell.visible import visible

#: Lines of an input or output that a report shows at most.
LINES = 40

#: Characters of a line that a report shows at most.
CHARACTERS = 400


def encodable(text: str) -> str:
    r"""A text without lone surrogates: bytes that are no UTF-8 become \xNN."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def excerpt(text: str) -> list[str]:
    """The lines of a text, as far as they are shown."""
    text = text.strip("\n")
    return limited(
        [shortened(line) for line in text.split("\n", LINES)[:LINES]], text.count("\n") + 1
    )


def limited(lines: Sequence[str], count: int) -> list[str]:
    """The first of some lines, with words on the others. count: how many there are."""
    more = [f"... {count - LINES} more lines"] if count > LINES else []
    return [*lines[:LINES], *more]


def first_line(text: str, characters: int = CHARACTERS) -> str:
    """The first line of a text, as far as it is shown."""
    return shortened(text.split("\n", 1)[0], characters)


def shortened(line: str, characters: int = CHARACTERS, start: int = 0) -> str:
    """A line from a character on, as far as it is shown, with words on what is left out."""
    shown = visible(line[start : start + characters].expandtabs())
    more = len(line) - start - characters
    before = f"[{start} characters ...] " if start else ""
    return before + shown + (f" [... {more} more characters]" if more > 0 else "")
