"""Inputs that are for the shell itself and not code: a table for each language, and what runs them.

A command is a function of the session, which is of the command's language, and of the text behind
its mark or name. Its module is imported when the command is first used: so modules of commands may
use those of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.toml import loads


class MagicError(Exception):
    """A command that could not be done; the reason is shown in one line behind its name."""

    @classmethod
    def of(cls, name: str, error: OSError | ValueError) -> MagicError:
        """Return a file or program that cannot be used, as the system says, or for its name."""
        return cls(f"{name}: {error.strerror if isinstance(error, OSError) else error}")


class Command(NamedTuple):
    """A command, as commands.toml has it."""

    #: Its module, seen from the rooms' folder, and its function.
    place: str
    #: The words that follow the name.
    usage: str = ""
    #: A line on what it does.
    meaning: str = ""


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
        """Return the name of the command that has this name for other programs, too."""
        own_name = _OTHER_NAMES.get(word, word)
        return own_name if own_name in self.rows else word

    def takes_input(self, name: str) -> bool:
        """Tell whether an input of the language stands behind a name: '%time'."""
        command = self.rows.get(self.name(name))
        return command is not None and command.usage.endswith("INPUT")

    def is_command(self, text: str) -> bool:
        """Tell whether an input is for the shell itself: '? name', '$ command', '%name'."""
        return text.lstrip().startswith(tuple(self._marks))

    def run(self, session: Any, text: str) -> None:
        """Run the command that an input calls, or say in one line why that cannot be done.

        Of two marks that it begins with, the longer one counts.
        """
        text = text.strip()
        name = max(filter(text.startswith, self._marks), key=len)
        arguments = text.removeprefix(name).strip()
        if name == "%":
            word, _, arguments = arguments.partition(" ")
            name = self.name(f"%{word}")
        try:
            self.function(name)(session, arguments.strip())
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
#: Python has breakpoint(), importlib and pickle.
_LUAS_OWN = ("%break", "%store", "%restore", "%reload", "%autoreload")
_LUA = _rows("lua")
_PYTHON = {name: row for name, row in _LUA.items() if name not in _LUAS_OWN} | _rows("python")

#: The commands of sessions of Lua, and of Python.
COMMANDS, PYTHON_COMMANDS = CommandTable(_LUA), CommandTable(_PYTHON)

is_command = COMMANDS.is_command
