"""Breakpoints of a prompt: `file.lua:12 if i > 3`, and their list."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from typing import Any, NamedTuple

_WORDS = re.compile(r"(?P<file>.+):(?P<line>\d+)(?:\s+if\s+(?P<condition>.+))?", re.DOTALL)
_USAGE = "break takes a file and a line, as in file.lua:12, or file.lua:12 if i > 3\n"


class Breakpoint(NamedTuple):
    """A place where the program stops, where the condition holds; '': always."""

    file: str
    line: int
    condition: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{' if ' * bool(self.condition)}{self.condition}"


def _remark(wanted: Breakpoint) -> str:
    """What is told of a breakpoint whose line has no code that is known."""
    if wanted.file.startswith("["):  # of an input
        return ""
    if os.path.isfile(wanted.file):
        return f"; line {wanted.line} has no code"
    return "; no such file is here: others of its name stop"


class Breakpoints:
    """Those of a session, by their numbers."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._next = 1

    def command(self, text: str) -> Generator[tuple[Any, ...], list[Any], str]:
        """Do what is typed behind the command; asks the engine, and returns what to tell."""
        if not text:
            return "".join(f"{n}  {one}\n" for n, one in self._all.items()) or "no breakpoints\n"
        word, _, number = text.partition(" ")
        if word == "-c":
            return (yield from self._clear(number.strip()))
        found = _WORDS.fullmatch(text)
        if found is None:
            return _USAGE
        wanted = Breakpoint(found["file"], int(found["line"]), (found["condition"] or "").strip())
        return (yield from self._add(wanted))

    def _clear(self, number: str) -> Generator[tuple[Any, ...], list[Any], str]:
        if number.isdecimal() and int(number) in self._all:
            del self._all[int(number)]
        elif not number:
            self._all.clear()
        else:
            return f"there is no breakpoint {number}\n"
        yield ("breakpoints", *self._fields())
        return ""

    def _add(self, wanted: Breakpoint) -> Generator[tuple[Any, ...], list[Any], str]:
        self._all[self._next] = wanted
        *_, actual = yield ("breakpoints", *self._fields())
        if isinstance(actual, str):
            del self._all[self._next]
            yield ("breakpoints", *self._fields())
            return f"{actual}\n"
        remark = "" if actual == wanted.line else _remark(wanted)
        if actual:
            wanted = self._all[self._next] = wanted._replace(line=int(actual))
        self._next += 1
        return f"{self._next - 1}  {wanted}{remark}\n"

    def _fields(self) -> list[Any]:
        return [field for one in self._all.values() for field in one]
