"""A case: a Lua program and the files beside it, made of parts that can be left out.

A finding is reduced by leaving out parts for as long as it stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
PRELUDE = "".join((_HERE / name).read_text() for name in ("prelude.lua", "walks.lua", "again.lua"))


@dataclass(frozen=True)
class Case:
    """Parts, and how they become a program and files.

    build: from the parts to the Lua text and the files by name.
    """

    parts: tuple[Any, ...]
    build: Callable[[Sequence[Any]], tuple[str, dict[str, bytes]]] = field(repr=False)

    @classmethod
    def of_lines(cls, lines: Sequence[str]) -> Case:
        """A program whose lines are its parts."""
        return cls(tuple(lines), _program)

    @property
    def by_line(self) -> bool:
        """Whether the parts are the lines of a program, and nothing else is in it."""
        return self.build is _program

    def keeping(self, parts: Sequence[Any]) -> Case:
        """The case with only these parts."""
        return replace(self, parts=tuple(parts))

    def texts(self) -> tuple[str, dict[str, bytes]]:
        """The program, without the prelude, and the files beside it."""
        return self.build(self.parts)

    def save(self, folder: Path) -> Path:
        """Write the case as a program that runs by itself; returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        program, files = self.texts()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        path = folder / "case.lua"
        path.write_text(f"{PRELUDE}\n{program}\ncheck_sentinels()\n")
        return path


def _program(lines: Sequence[Any]) -> tuple[str, dict[str, bytes]]:
    return "\n".join(lines), {}


def reduced(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The case with as few parts as the search finds that still fails.

    Leaves out halves, quarters and so on, until no single part can go. fails: False too where
    the time for reducing is over.
    """
    parts = list(case.parts)
    size = max(1, len(parts) // 2)
    while True:
        left = _without_chunks(case, parts, size, fails)
        shorter = len(left) < len(parts)
        parts = left
        if size == 1 and not shorter:
            return case.keeping(parts)
        size = max(1, min(size // 2, len(parts) // 2))


def _without_chunks(
    case: Case, parts: list[Any], size: int, fails: Callable[[Case], bool]
) -> list[Any]:
    at = len(parts) - size
    while at > -size:
        rest = parts[: max(at, 0)] + parts[at + size :]
        if len(rest) < len(parts) and fails(case.keeping(rest)):
            parts = rest
        at -= size
    return parts
