"""The history of a kernel: the cells that it has run, and their results, as text."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, NamedTuple

_SESSION = 0  # The protocol's number of the session that runs.


class _Line(NamedTuple):
    number: int
    code: str
    result: str | None


class Log:
    """The cells that were run, in their order."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []

    def add(self, number: int, code: str, result: str | None) -> None:
        """Add a cell. number: its execution count. result: the text of its value, if it has one."""
        self._lines.append(_Line(number, code, result))

    def find(self, request: dict[str, Any]) -> list[tuple[Any, ...]]:
        """The answer to a history_request, whose content this is."""
        kind = request["hist_access_type"]
        if kind == "range":
            found = self._range(request)
        elif kind == "search":
            found = self._search(request)
        else:
            found = self._lines
        if kind != "range" and request.get("n") is not None:
            found = found[max(0, len(found) - request["n"]) :]
        return [_entry(line, bool(request.get("output"))) for line in found]

    def _range(self, request: dict[str, Any]) -> list[_Line]:
        if request.get("session"):  # Earlier sessions are not kept.
            return []
        start, stop = request.get("start") or 0, request.get("stop")
        return [
            line
            for line in self._lines
            if start <= line.number and (stop is None or line.number < stop)
        ]

    def _search(self, request: dict[str, Any]) -> list[_Line]:
        pattern = request.get("pattern") or "*"
        found = [line for line in self._lines if fnmatchcase(line.code, pattern)]
        if request.get("unique"):
            last = {line.code: line.number for line in found}
            found = [line for line in found if last[line.code] == line.number]
        return found


def _entry(line: _Line, with_output: bool) -> tuple[Any, ...]:
    return _SESSION, line.number, (line.code, line.result) if with_output else line.code
