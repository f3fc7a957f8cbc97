"""What the log of a session keeps of an input."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from runtime import LuaError

__all__ = ["Entry", "lines_of"]


class Entry(NamedTuple):
    """An input of Lua that was run, and its error.

    number: from 1; the inputs of a notebook's cell have that of the cell, and stand at its lines.
    """

    number: int
    source: str
    error: LuaError | None


def lines_of(inputs: Iterable[str]) -> list[str]:
    """The lines of the text in which inputs were `placed`; the later input wins."""
    lines: list[str] = []
    for piece in inputs:
        own = piece.rstrip().splitlines()
        lines = [new or old for old, new in zip_longest(lines, own, fillvalue="")]
    return lines
