"""The history of a kernel: the cells that it has run, and their results, as text."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

_SESSION = 0  # The protocol's number of the session that runs.


class Log:
    """The cells that were run, in their order."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str, str | None]] = []  # number, code, result

    def add(self, number: int, code: str, result: str | None) -> None:
        """Add a cell. number: its execution count. result: the text of its value, if it has one."""
        self._lines.append((number, code, result))

    def find(self, request: dict[str, Any]) -> list[tuple[Any, ...]]:
        """The answer to a history_request, whose content this is."""
        kind, found = request["hist_access_type"], self._lines
        if kind == "range":
            start, stop = request.get("start") or 0, request.get("stop")
            found = [one for one in found if start <= one[0] and (stop is None or one[0] < stop)]
            found = [] if request.get("session") else found  # Earlier sessions are not kept.
        elif kind == "search":
            pattern = request.get("pattern") or "*"
            found = [one for one in found if fnmatchcase(one[1], pattern)]
            if request.get("unique"):
                last = {code: number for number, code, _ in found}
                found = [one for one in found if last[one[1]] == one[0]]
        if kind != "range" and request.get("n") is not None:
            found = found[max(0, len(found) - request["n"]) :]
        output = request.get("output")
        return [(_SESSION, n, (code, result) if output else code) for n, code, result in found]
