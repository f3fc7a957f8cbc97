"""The history of inputs, in a file that the reference's shell also uses: lines, the oldest first.

The file is named by $TREPL_HISTORY or the settings, otherwise it is ~/.luahistory. An input of
several lines is stored as several lines; when the file is read, these are joined again to the
inputs that Lua's compiler finds complete.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from th_shell.session.commands import is_command
from th_shell.session.inputs import split
from th_shell.session.session import Session
from th_shell.syntax import Judge, Syntax

__all__ = ["LineHistory", "history_path", "session_history"]

MAX_LINES_OF_INPUT = 100
_PRIVATE = 0o600


def history_path(environment: Mapping[str, str], configured: str = "") -> Path:
    """The history file, as the variables of an environment name it, or else the settings."""
    named = environment.get("TREPL_HISTORY") or configured or os.path.join("~", ".luahistory")
    return Path(os.path.expanduser(named))


def session_history(session: Session, ready: Callable[[], None] | None = None) -> LineHistory:
    """The history of a session's inputs. ready: waits until its engine can be used."""
    config = session.config
    path = history_path(os.environ, config.history_path)
    return LineHistory(path, session.judge, session.inputs, ready, config.history_size)


def _make_private(descriptor: int) -> None:
    # Inputs may contain passwords; the reference's shell lets all users read the file.
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != _PRIVATE:
        with suppress(OSError):  # the file is another user's
            os.fchmod(descriptor, _PRIVATE)


class LineHistory(History):
    """The inputs, which are also stored in a file of lines.

    judge: a function that compiles a text. inputs: a function that finds the inputs in a text that
    was entered, by default as in code. ready: waits until these can be used; None where they can
    now. lines: how many are read, from the end of the file. Where the file cannot be read or
    written, no error is raised; the history then ends with the program.
    """

    def __init__(
        self,
        path: Path,
        judge: Judge,
        inputs: Callable[[str], Sequence[str]] | None = None,
        ready: Callable[[], None] | None = None,
        lines: int = 5_000,
    ) -> None:
        super().__init__()
        self._ready = ready
        self._lines = lines
        self._path = path
        self._judge = judge
        self._inputs = inputs or (lambda text: split(text, judge))

    def append_string(self, string: str) -> None:
        """Add what was entered; a pasted block is added as the inputs that it contains."""
        new: list[str] = []
        for piece in self._inputs(string):
            last = new[-1:] or self._loaded_strings[:1]
            if last != [piece]:
                new.append(piece)
        if new:
            self._loaded_strings[:0] = reversed(new)
            self.store_string("\n".join(new))

    async def load(self) -> AsyncGenerator[str, None]:
        """The inputs, newest first; keys are read while this waits for the judge."""
        if self._ready is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._ready)
        async for string in super().load():
            yield string

    def load_history_strings(self) -> Iterable[str]:
        """The inputs, newest first."""
        try:
            with open(self._path, "rb") as file:
                _make_private(file.fileno())
                text = file.read().decode("utf-8", "surrogateescape")
        except OSError:
            return []
        lines = text.splitlines()
        return reversed(self._joined(lines[max(len(lines) - self._lines, 0) :]))

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
            count = self._length(lines[at : at + MAX_LINES_OF_INPUT])
            inputs.append("\n".join(lines[at : at + count]))
            at += count
        return inputs

    def _length(self, lines: list[str]) -> int:
        """How many of the first lines are one input; 1 if none of these numbers gives one."""
        if is_command(lines[0]):
            return 1
        for count in range(1, len(lines) + 1):
            syntax = self._judge("\n".join(lines[:count]))
            if syntax is Syntax.COMPLETE:
                return count
            if syntax is Syntax.WRONG:
                break
        return 1
