"""The entries of a session's log, and the source lines of its inputs."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from th_shell.files import lines_of_file
from th_shell.lines import lua_lines


class Entry(NamedTuple):
    """An input that was run."""

    #: The number of the input, from 1; inputs of a notebook's cell have the number of the cell.
    number: int
    source: str
    error: BaseException | None
    #: What it has printed, without its error; None where that was not kept.
    output: str | None = None


def source_lines(chunk: str, log: Sequence[Entry]) -> list[str]:
    """Return the lines of a chunk by its name: of inputs by their number, '[7]', or of a file."""
    if chunk.startswith("["):
        return lines_of(entry.source for entry in log if f"[{entry.number}]" == chunk)
    return lines_of_file(chunk)


def texts_of(log: Iterable[Entry]) -> dict[int, str]:
    """Return the texts of inputs by their numbers, of which those of a cell share one."""
    parts = groupby(log, lambda entry: entry.number)
    return {number: "\n".join(lines_of(part.source for part in cell)) for number, cell in parts}


def lines_of(inputs: Iterable[str]) -> list[str]:
    """Return the lines of the text in which inputs were `placed`; the later input wins."""
    lines: dict[int, str] = {}
    for piece in inputs:
        text = piece.lstrip("\n")
        above = len(piece) - len(text)
        lines.update(enumerate(lua_lines(text.rstrip()), above))
    return [lines.get(at, "") for at in range(max(lines, default=-1) + 1)]
