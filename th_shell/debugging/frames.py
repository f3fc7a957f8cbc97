"""The frames and variables that an engine tells of, and the lines of their sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from th_shell.entry import Entry, source_lines
from th_shell.lines import lua_lines


class Frame(NamedTuple):
    """A frame of the program."""

    #: The number of the frame, from 1 for the innermost one.
    number: int
    name: str
    #: Lua's name of the chunk.
    source: str
    line: int

    @property
    def chunk(self) -> str:
        """Return the chunk's name as errors show it: a file, '[7]' of an input."""
        if self.source[:1] in "@=":
            return self.source[1:]
        return f'[string "{lua_lines(self.source)[0][:40]}"]'

    def lines(self, log: Sequence[Entry]) -> list[str]:
        """Return the lines of the chunk; none where they are lost. log: the session's inputs."""
        if self.source[:1] in "@=":
            return source_lines(self.chunk, log)
        return lua_lines(self.source)


def read_frames(answer: list[Any]) -> list[Frame]:
    """Return the frames that an engine lists."""
    rows = [answer[at : at + 3] for at in range(0, len(answer), 3)]
    return [
        Frame(number, str(name), str(source), int(line))
        for number, (name, source, line) in enumerate(rows, 1)
    ]


class Variable(NamedTuple):
    """A variable, or a part of a value."""

    #: 'local', 'upvalue', 'vararg' or 'part'.
    kind: str
    name: str
    text: str
    type: str
    #: The number by which its parts are asked for; 0: it has none.
    number: int


def read_variables(answer: list[Any]) -> list[Variable]:
    """Return the variables of a frame that an engine lists."""
    rows = [answer[at : at + 5] for at in range(0, len(answer), 5)]
    return [Variable(*row) for row in rows]


def read_parts(answer: list[Any]) -> list[Variable]:
    """Return the parts of a value that an engine lists."""
    rows = [answer[at : at + 4] for at in range(0, len(answer), 4)]
    return [Variable("part", *row) for row in rows]
