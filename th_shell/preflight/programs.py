"""The programs that are checked together: their sources, and what all of them define.

A program may use what another one of them defines, in whatever order they are loaded. So what one
of them defines is taken to be there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from runtime import Engine, LuaSyntaxError
from th_shell.files import read_file
from th_shell.preflight.cursor import NotLuaError
from th_shell.preflight.parser import parse
from th_shell.preflight.syntax_tree import Chunk, Name, Use

_PLACE = re.compile(r"^.*?:(\d+): ", re.DOTALL)
_NOT_SOURCE = (b"\x1b", b"\x7fELF")


class UnreadableError(Exception):
    """A file that cannot be read; the message says why."""


@dataclass(frozen=True)
class Program:
    """A file. error: why LuaJIT cannot compile it, with the line; then the chunk is empty."""

    path: Path
    source: str
    chunk: Chunk
    error: tuple[int, str] | None = None

    @cached_property
    def _lines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.source)]

    def line(self, at: int) -> int:
        """The number of the line, from 1, of an offset in the source."""
        return bisect_right(self._lines, at - 1) + 1


@dataclass
class Programs:
    """What programs define together: globals, fields and methods; and the strings in them."""

    globals: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, programs: Iterable[Program]) -> Programs:
        """What these programs define."""
        found = cls()
        for chunk in (program.chunk for program in programs):
            found.fields.update(chunk.defined)
            found.texts.update(chunk.texts)
            found.globals.update(_globals(chunk))
        return found

    def may_define(self, name: str) -> bool:
        """Whether one of them may add a field of this name to a table."""
        return name in self.fields or name in self.texts


def _globals(chunk: Chunk) -> Sequence[str]:
    names = (node for node in chunk.nodes if isinstance(node, Name))
    return [node.name for node in names if node.use is Use.ASSIGNED and node.local is None]


def read(path: Path, engine: Engine) -> Program:
    """Read a file, and compile it, without running it. Raises UnreadableError."""
    try:
        data = read_file(path)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    if data.startswith(_NOT_SOURCE):
        raise UnreadableError("it is bytecode or a library, and not Lua source")
    source = data.decode("utf-8", "surrogateescape")
    # As loadfile does, skip a first line that begins with #.
    code = b"\n" + data.partition(b"\n")[2] if data.startswith(b"#") else data
    try:
        engine.compile(code, b"=lua")
        return Program(path, source, parse(source))
    except LuaSyntaxError as error:
        place = _PLACE.match(error.message)
        line = int(place[1]) if place else 1
        return Program(path, source, Chunk(), (line, _PLACE.sub("", error.message, count=1)))
    except NotLuaError as error:
        program = Program(path, source, Chunk())
        return Program(path, source, Chunk(), (program.line(error.at), "th cannot read this line"))
