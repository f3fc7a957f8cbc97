"""Places of a program as editors count them: lines from 0, columns in units of UTF-16."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from th_shell.preflight.programs import Program
from th_shell.preflight.syntax_tree import Place

_CODEC = PositionCodec()
#: The length of a text in units of UTF-16.
units: Callable[[str], int] = _CODEC.client_num_units


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
    lines = [f"{line}\n" for line in source.split("\n")]
    at = _CODEC.position_from_client_units(lines, position)
    return "".join([*lines[: at.line], lines[at.line][: at.character]])
