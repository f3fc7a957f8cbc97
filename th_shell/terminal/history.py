"""The history of inputs, in a file of lines, the oldest first.

The file of Lua is one that the reference's shell also uses: it is named by $TREPL_HISTORY or the
settings, otherwise it is ~/.luahistory. An input of several lines is stored as several lines; when
the file is read, these are joined again to the inputs that Lua's compiler finds complete.
"""

import asyncio
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from prompt_toolkit.history import History

from th_shell.session.commands import is_command
from th_shell.syntax import Judge, Syntax

MAX_LINES_OF_INPUT = 100
_PRIVATE = 0o600


def history_path(environment: Mapping[str, str], configured: str = "") -> Path:
    """Return the history file, as the variables of an environment name it, or else the settings."""
    named = environment.get("TREPL_HISTORY") or configured or "~/.luahistory"
    return Path(os.path.expanduser(named))


def _make_private(descriptor: int) -> None:
    # Inputs may contain passwords; the reference's shell lets all users read the file.
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != _PRIVATE:
        with suppress(OSError):  # the file is another user's
            os.fchmod(descriptor, _PRIVATE)


@dataclass(eq=False)
class InputHistory(History, ABC):
    """The inputs, which are also stored in a file; each language has a form of it.

    inputs: a function that finds the inputs in a text that was entered. ready: a function that
    waits until `inputs` can be called; None where it can now. lines: how many are read, from the
    end of the file. No error is raised where the file cannot be read or written; the history then
    ends with the program.
    """

    path: Path
    inputs: Callable[[str], Sequence[str]]
    ready: Callable[[], None] | None = None
    lines: int = 5_000

    def __post_init__(self) -> None:
        super().__init__()
        #: Whether the editor has got all inputs, for what it reads now.
        self.is_loaded = False
        #: Is called when it has.
        self.when_loaded: Callable[[], None] = lambda: None

    @abstractmethod
    def _decoded(self, lines: list[str]) -> list[str]:
        """Return the inputs in lines of the file, oldest first."""

    @abstractmethod
    def _encoded(self, inputs: Sequence[str]) -> str:
        """Return inputs as they stand in the file, without the last newline."""

    def append_string(self, string: str) -> None:
        """Add what was entered; a pasted block is added as the inputs that it contains."""
        new: list[str] = []
        for piece in self.inputs(string):
            last = new[-1:] or self._loaded_strings[:1]
            if last != [piece]:
                new.append(piece)
        if new:
            self._loaded_strings[:0] = reversed(new)
            self.store_string(self._encoded(new))

    def expect(self, _: object = None) -> None:
        """Expect that the editor begins to ask for all inputs."""
        self.is_loaded = False

    async def load(self) -> AsyncGenerator[str, None]:
        """Yield the inputs, newest first; keys are read while this waits until they can be read."""
        with suppress(Exception):  # the engine cannot start: the first input says why
            if self.ready is not None:
                await asyncio.get_running_loop().run_in_executor(None, self.ready)
            async for string in super().load():
                yield string
        self.is_loaded = True
        self.when_loaded()

    def load_history_strings(self) -> Iterable[str]:
        """Return the inputs, newest first."""
        try:
            with open(self.path, "rb") as file:
                _make_private(file.fileno())
                text = file.read().decode("utf-8", "surrogateescape")
        except OSError:
            return []
        lines = text.removesuffix("\n").split("\n") if text else []
        return reversed(self._decoded(lines[max(len(lines) - self.lines, 0) :]))

    def store_string(self, string: str) -> None:
        """Add an input to the file, whose last line may lack its end."""
        line = (string + "\n").encode("utf-8", "surrogateescape")
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            with open(os.open(self.path, flags, _PRIVATE), "ab", buffering=0) as file:
                _make_private(file.fileno())
                size = os.fstat(file.fileno()).st_size
                if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                    line = b"\n" + line
                file.write(line)
        except OSError:
            pass


@dataclass(eq=False)
class LineHistory(InputHistory):
    """A file of lines, as the reference's shell writes it.

    judge: a function that compiles a text.
    """

    judge: Judge = field(kw_only=True)

    def _encoded(self, inputs: Sequence[str]) -> str:
        return "\n".join(inputs)

    def _decoded(self, lines: list[str]) -> list[str]:
        lines = [line.removesuffix("\r") for line in lines]
        inputs: list[str] = []
        at = 0
        while at < len(lines):
            count = self._length(lines[at : at + MAX_LINES_OF_INPUT])
            inputs.append("\n".join(lines[at : at + count]))
            at += count
        return inputs

    def _length(self, lines: list[str]) -> int:
        """Return how many of the first lines are one input; 1 if no number of them is one."""
        if is_command(lines[0]):
            return 1
        for count in range(1, len(lines) + 1):
            syntax = self.judge("\n".join(lines[:count]))
            if syntax is Syntax.COMPLETE:
                return count
            if syntax is Syntax.WRONG:
                break
        return 1


class MarkedHistory(InputHistory):
    r"""A file as Python's own: the lines of an input end with '\r\n', but for the last one."""

    def _encoded(self, inputs: Sequence[str]) -> str:
        return "\n".join(source.replace("\n", "\r\n") for source in inputs)

    def _decoded(self, lines: list[str]) -> list[str]:
        inputs = "\n".join(lines).replace("\r\n", "\r").split("\n") if lines else []
        return [source.replace("\r", "\n") for source in inputs]
