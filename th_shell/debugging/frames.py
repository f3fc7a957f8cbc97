"""The frames and variables that an engine tells of, and the places where a program stops."""

import os
import re
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from th_shell.entry import Entry, source_lines
from th_shell.lines import lua_lines
from th_shell.paragraphs import counted


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
        return source_lines(self.chunk, log) if self.source[:1] in "@=" else lua_lines(self.source)


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


# -- breakpoints: `file.lua:12 if i > 3`, and their list


_WORDS = re.compile(r"(?P<file>.+):(?P<line>\d+)(?:\s+if\s+(?P<condition>.+))?", re.DOTALL)
_USAGE = "break takes a file and a line, as in file.lua:12, or file.lua:12 if i > 3\n"


class Breakpoint(NamedTuple):
    """A place where the program stops, where the condition holds; '': always."""

    file: str
    line: int
    condition: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{' if ' * bool(self.condition)}{self.condition}"


def _remark(asked: Breakpoint) -> str:
    """Return the remark on a breakpoint whose line has no code that is known."""
    if asked.file.startswith("["):  # of an input
        return ""
    if os.path.isfile(asked.file):
        return f"; line {asked.line} has no code"
    return "; no such file is here: others of its name stop"


class Breakpoints:
    """The breakpoints of a session, by their numbers."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._next = 1

    def command(self, text: str) -> Generator[tuple[Any, ...], list[Any], str]:
        """Do what is typed behind the command; asks the engine, and returns what to tell."""
        if not text:
            return (
                "".join(f"{n}  {breakpoint}\n" for n, breakpoint in self._all.items())
                or "no breakpoints\n"
            )
        word, _, number = text.partition(" ")
        if word == "-c":
            return (yield from self._clear(number.strip()))
        match = _WORDS.fullmatch(text)
        if match is None:
            return _USAGE
        asked = Breakpoint(match["file"], int(match["line"]), (match["condition"] or "").strip())
        return (yield from self._add(asked))

    def _clear(self, number: str) -> Generator[tuple[Any, ...], list[Any], str]:
        if number.isdecimal() and int(number) in self._all:
            removed = f"removed: {self._all.pop(int(number))}\n"
        elif number in ("", "all"):
            removed = f"removed: {counted(len(self._all), 'breakpoint')}\n"
            self._all.clear()
        else:
            return f"there is no breakpoint {number}\n"
        yield ("breakpoints", *self._fields())
        return removed

    def _add(self, asked: Breakpoint) -> Generator[tuple[Any, ...], list[Any], str]:
        self._all[self._next] = asked
        *_, actual = yield ("breakpoints", *self._fields())
        if isinstance(actual, str):
            del self._all[self._next]
            yield ("breakpoints", *self._fields())
            return f"{actual}\n"
        remark = "" if actual == asked.line else _remark(asked)
        if actual:
            asked = self._all[self._next] = asked._replace(line=int(actual))
        self._next += 1
        return f"{self._next - 1}  {asked}{remark}\n"

    def _fields(self) -> list[Any]:
        return [field for one in self._all.values() for field in (*one, "", "")]
