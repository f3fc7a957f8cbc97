"""What a page format hands on: blocks of code, with the numbers of their lines in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class PageError(Exception):
    """A page that is not in the format of its name; the message says why."""


@dataclass(frozen=True)
class Line:
    """A line of a page; number: counted from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Block:
    """The lines between two fences.

    opening, closing: the line numbers of the fences; where a format has no fences, the line that
    announces the block, or the one above its first, and the one below its last. language: what the
    page says, in small letters; '' where it says nothing. skip: whether a
    notebook says not to run it.
    heading: the text of the heading above, lead: the line of text above; '' where there is none.
    output: what a notebook shows under the block, which is one cell; None where outputs stand among
    the lines.
    """

    opening: int
    closing: int
    language: str
    lines: tuple[Line, ...]
    skip: bool = False
    heading: str = ""
    lead: str = ""
    output: tuple[Line, ...] | None = None


def edited(lines: Sequence[Line], new: Mapping[int, Sequence[str]]) -> tuple[Line, ...]:
    """Lines with new texts in place of some, by their numbers; all of these have that number."""
    return tuple(
        Line(line.number, text) for line in lines for text in new.get(line.number, (line.text,))
    )


def numbered(texts: Sequence[str], first: int) -> tuple[Line, ...]:
    """Lines with their numbers, of which the first is given."""
    return tuple(Line(number, text) for number, text in enumerate(texts, first))
