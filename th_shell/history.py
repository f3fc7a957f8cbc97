"""The file of former inputs, shared with the reference's shell: plain lines, oldest first.

The file is named by $TREPL_HISTORY, else it is ~/.luahistory. An input of several lines is
several lines there; on reading they are put together again where Lua says they belong so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path

from prompt_toolkit.history import History

from th_shell.inputs import is_command

__all__ = ["LineHistory", "history_path"]

MOST_LINES = 10_000  # of the file, counted from its end
MOST_LINES_OF_INPUT = 200


def history_path(environment: Mapping[str, str]) -> Path:
    """The history file that an environment asks for."""
    named = environment.get("TREPL_HISTORY")
    return Path(named) if named else Path(os.path.expanduser("~")) / ".luahistory"


class LineHistory(History):
    """Inputs in a file of lines.

    incomplete: whether a text lacks its end. A file that cannot be read or written is no
    reason to disturb: the history then lasts as long as the program.
    """

    def __init__(self, path: Path, incomplete: Callable[[str], bool]) -> None:
        super().__init__()
        self._path = path
        self._incomplete = incomplete

    def load_history_strings(self) -> Iterable[str]:
        """The inputs, newest first."""
        try:
            text = self._path.read_text("utf-8", "surrogateescape")
        except OSError:
            return []
        return reversed(self._joined(text.splitlines()[-MOST_LINES:]))

    def store_string(self, string: str) -> None:
        """Add an input to the file."""
        try:
            with self._path.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(string.rstrip("\n") + "\n")
        except OSError:
            pass

    def _joined(self, lines: list[str]) -> list[str]:
        inputs: list[str] = []
        at = 0
        while at < len(lines):
            count = self._length(lines, at)
            inputs.append("\n".join(lines[at : at + count]))
            at += count
        return inputs

    def _length(self, lines: list[str], at: int) -> int:
        """How many lines from a place on make one input; 1 where they never do."""
        if is_command(lines[at]):
            return 1
        text = ""
        for count, line in enumerate(islice(lines, at, at + MOST_LINES_OF_INPUT), 1):
            text += line + "\n"
            if not self._incomplete(text):
                return count
        return 1
