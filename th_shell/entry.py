"""What the log of a session keeps of an input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Entry(NamedTuple):
    """An input that was run, and its error.

    number: from 1; the inputs of a notebook's cell have that of the cell, and stand at its lines.
    """

    number: int
    source: str
    error: BaseException | None


def lines_of(inputs: Iterable[str]) -> list[str]:
    """The lines of the text in which inputs were `placed`; the later input wins."""
    found: dict[int, str] = {}
    for piece in inputs:
        text = piece.lstrip("\n")
        above = len(piece) - len(text)
        found.update(enumerate(text.rstrip().splitlines(), above))
    return [found.get(at, "") for at in range(max(found, default=-1) + 1)]
