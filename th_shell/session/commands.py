"""Inputs that are for the shell itself and not code: a table for each language, and what runs them.

A command is a function. It gets the session, which runs the command's language, and the text
behind the command's mark or name. Its module is imported when the command is first used: so modules
of commands may import those of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.toml import loads


class MagicError(Exception):
    """A command cannot be carried out; its name and the reason are shown in one line."""

    @classmethod
    def of(cls, name: str, error: Exception) -> MagicError:
        """Return the error of a file or program: its name, and the reason that the error has."""
        return cls(f"{name}: {error.strerror if isinstance(error, OSError) else error}")


@contextmanager
def errors_of(
    name: str, kinds: tuple[type[Exception], ...] = (OSError, ValueError)
) -> Iterator[None]:
    """Say of which file or program an error is that ends what stands within. Raises MagicError."""
    try:
        yield
    except kinds as error:
        raise MagicError.of(name, error) from None


class Command(NamedTuple):
    """A command, as commands.toml has it."""

    #: The module, as seen from the folder th_shell, and the function: "magics.save.save".
    place: str
    #: The words that follow the name.
    usage: str = ""
    #: A line on what it does.
    meaning: str = ""
    #: A call of it, where it does nothing without an input.
    example: str = ""


#: Names by which other programs know the commands.
_OTHER_NAMES = {"%": "%help", "%log": "%history", "%hist": "%history", "%prun": "%profile"}


class CommandTable:
    """The commands of a language: by their marks, and by their names, which begin with '%'."""

    def __init__(self, rows: Mapping[str, Command]) -> None:
        self.rows = rows
        self._marks = ["%", *(name for name in rows if not name.startswith("%"))]

    def names(self) -> list[str]:
        """Return the names that begin with '%'."""
        return [name for name in self.rows if name.startswith("%")]

    def name(self, word: str) -> str:
        """Return the name of the command for a name that other programs have for it."""
        own_name = _OTHER_NAMES.get(word, word)
        return own_name if own_name in self.rows else word

    def takes_input(self, name: str) -> bool:
        """Tell whether the text behind a name is an input of the language, as for '%time'."""
        command = self.rows.get(self.name(name))
        return command is not None and command.usage.endswith("INPUT")

    def is_command(self, text: str) -> bool:
        """Tell whether an input is for the shell itself: '? name', '$ command', '%name'."""
        return text.lstrip().startswith(tuple(self._marks))

    def run(self, session: Any, text: str) -> None:
        """Run the command that an input calls, or say in one line why that cannot be done.

        If the input begins with two marks, such as '?' and '??', the longer one counts.
        """
        text = text.strip()
        name = max(filter(text.startswith, self._marks), key=len)
        arguments = text.removeprefix(name).strip()
        if name == "%":
            word, _, arguments = arguments.partition(" ")
            name = self.name(f"%{word}")
        try:
            function = self.function(name)
            if self.rows[name].example and not arguments.strip():
                raise MagicError(f"what is to be run? As in: {self.rows[name].example}")
            function(session, arguments.strip())
        except MagicError as error:
            session.report(name, str(error))

    def function(self, name: str) -> Callable[[Any, str], None]:
        """Return the function of a command. Raises MagicError where there is none."""
        if name not in self.rows:
            from difflib import get_close_matches  # late: at the first wrong name

            close = get_close_matches(name, [*self.names(), *_OTHER_NAMES], 3)
            near = f"there is {', '.join(close)}" if close else "%help lists all"
            raise MagicError(f"no such command; {near}")
        module, _, function = self.rows[name].place.rpartition(".")
        command: Callable[[Any, str], None] = getattr(import_module(f"th_shell.{module}"), function)
        return command


def _rows(language: str) -> dict[str, Command]:
    return {name: Command(**row) for name, row in _TABLE[language].items()}


_TABLE = loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
#: The commands for Lua alone: Python has breakpoint(), importlib and pickle.
_LUAS_OWN = ("%break", "%config", "%store", "%restore", "%reload", "%autoreload")
_LUA = _rows("lua")
_PYTHON = {name: row for name, row in _LUA.items() if name not in _LUAS_OWN} | _rows("python")

#: The commands of sessions of Lua, and of Python.
COMMANDS, PYTHON_COMMANDS = CommandTable(_LUA), CommandTable(_PYTHON)

is_command = COMMANDS.is_command
