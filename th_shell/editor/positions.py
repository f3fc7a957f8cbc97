"""Places of a program as editors count them: lines from 0, columns in units of UTF-16."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from lsprotocol.types import Position, Range

from th_shell.preflight.programs import Program
from th_shell.preflight.syntax_tree import Place


def units(text: str) -> int:
    """The length of a text in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(line: str, character: int) -> str:
    """The beginning of a line, up to a column in units of UTF-16."""
    data = line.encode("utf-16-le", "surrogatepass")[: 2 * character]
    return data.decode("utf-16-le", "surrogatepass" if len(data) % 4 == 0 else "ignore")


@lru_cache(maxsize=64)
def _starts(data: bytes) -> list[int]:
    """Where the lines of a source begin."""
    starts = [0]
    while (at := data.find(b"\n", starts[-1])) >= 0:
        starts.append(at + 1)
    return starts


def position_of(program: Program, offset: int) -> Position:
    """The position of a byte of a program."""
    starts = _starts(program.parsed)
    line = bisect_right(starts, offset) - 1
    return Position(line, units(program.parsed[starts[line] : offset].decode()))


def range_of(program: Program, place: Place) -> Range:
    """The range of a place."""
    return Range(position_of(program, place.start), position_of(program, place.end))


def text_before(source: str, position: Position) -> str:
    """The text of a source up to a position."""
    lines = source.split("\n")
    rest = lines[position.line] if position.line < len(lines) else ""
    return "\n".join([*lines[: position.line], cut(rest, position.character)])
