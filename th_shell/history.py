"""The file of former inputs, shared with the reference's shell: plain lines, oldest first.

The file is named by $TREPL_HISTORY, else it is ~/.luahistory. An input of several lines is
several lines there; on reading they are put together again where Lua says they belong so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from th_shell.inputs import Judge, Syntax, is_command, split

__all__ = ["LineHistory", "history_path"]

MOST_LINES = 5_000  # of the file, counted from its end
MOST_LINES_OF_INPUT = 100
_PRIVATE = 0o600


def history_path(environment: Mapping[str, str]) -> Path:
    """The history file that an environment asks for."""
    named = environment.get("TREPL_HISTORY")
    return Path(named) if named else Path(os.path.expanduser("~")) / ".luahistory"


def _make_private(descriptor: int) -> None:
    # What was typed may hold passwords; the reference made the file readable for all.
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != _PRIVATE:
        with suppress(OSError):  # it is somebody else's
            os.fchmod(descriptor, _PRIVATE)


class LineHistory(History):
    """Inputs in a file of lines.

    judge: what the compiler says of a text. A file that cannot be read or written is no reason to
    disturb: the history then lasts as long as the program.
    """

    def __init__(self, path: Path, judge: Judge) -> None:
        super().__init__()
        self._path = path
        self._judge = judge

    def append_string(self, string: str) -> None:
        """Add what was entered; of a pasted block, its inputs one by one."""
        for piece in split(string, self._judge):
            if self.get_strings()[-1:] != [piece]:
                super().append_string(piece)

    def load_history_strings(self) -> Iterable[str]:
        """The inputs, newest first."""
        try:
            with open(self._path, "rb") as file:
                _make_private(file.fileno())
                text = file.read().decode("utf-8", "surrogateescape")
        except OSError:
            return []
        return reversed(self._joined(text.splitlines()[-MOST_LINES:]))

    def store_string(self, string: str) -> None:
        """Add an input to the file."""
        line = (string + "\n").encode("utf-8", "surrogateescape")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            with open(os.open(self._path, flags, _PRIVATE), "ab", buffering=0) as file:
                _make_private(file.fileno())
                file.write(line)
        except OSError:
            pass

    def _joined(self, lines: list[str]) -> list[str]:
        inputs: list[str] = []
        at = 0
        while at < len(lines):
            count = self._length(lines[at : at + MOST_LINES_OF_INPUT])
            inputs.append("\n".join(lines[at : at + count]))
            at += count
        return inputs

    def _length(self, lines: list[str]) -> int:
        """How many of the lines make one input; 1 where they never do."""
        if is_command(lines[0]):
            return 1
        for count in range(1, len(lines) + 1):
            syntax = self._judge("\n".join(lines[:count]))
            if syntax is Syntax.COMPLETE:
                return count
            if syntax is Syntax.WRONG:
                break
        return 1
