"""Tables of commands that begin with %: a table for each language.

A command is a function of the session and of the text behind its name. Its module is imported when
the command is first used.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from th_shell.paragraphs import filled, two_columns

if TYPE_CHECKING:
    from th_shell.session.conversation import Conversation


class MagicError(Exception):
    """Why a command could not be done; shown in one line behind its name."""

    @classmethod
    def of(cls, name: str, error: OSError | ValueError) -> MagicError:
        """A file or program that cannot be used, as the system says, or for its name."""
        return cls(f"{name}: {error.strerror if isinstance(error, OSError) else error}")


def confirm_reset(text: str, names: Sequence[str], what: str) -> None:
    """Let %reset go on where -f stands behind it. Raises MagicError, which lists what would go."""
    if text not in ("", "-f"):
        raise MagicError("takes nothing but -f")
    if not text:
        listed = textwrap.fill(" ".join(names), 78)
        raise MagicError(f"-f removes {len(names)} {what} and all results\n{listed}".rstrip())


class Magic(NamedTuple):
    """A command. place: its module, seen from this folder, and its function.

    usage: what follows the name. meaning: a line on what it does.
    """

    place: str
    usage: str
    meaning: str


Function = Callable[[Any, str], None]

#: Names by which other programs know the commands.
_OTHER_NAMES = {"": "help", "log": "history", "hist": "history", "prun": "profile"}


class MagicTable:
    """The commands of a language, by their names."""

    def __init__(self, rows: Mapping[str, Magic]) -> None:
        self.rows = {**rows, "help": Magic("", "[NAME]", "list these commands")}
        self._others = {one: name for one, name in _OTHER_NAMES.items() if name in self.rows}

    def run(self, session: Conversation, text: str) -> None:
        """Run the command that a text names, or say in one line why that cannot be done."""
        name, _, rest = text.strip().partition(" ")
        name = self._others.get(name, name)
        try:
            self.function(name)(session, rest.strip())
        except MagicError as error:
            session.report(f"%{name}", str(error))

    def function(self, name: str) -> Function:
        """What runs a command. Raises MagicError where there is none."""
        if name == "help":
            return self._show_help
        if name not in self.rows:
            close = get_close_matches(name, [*self.rows, *filter(None, self._others)], 3)
            near = "there is " + ", ".join(f"%{one}" for one in close)
            raise MagicError(f"no such command; {near if close else '%help lists all'}")
        module, _, function = self.rows[name].place.rpartition(".")
        found: Function = getattr(import_module(f".{module}", __package__), function)
        return found

    def takes_input(self, name: str) -> bool:
        """Whether what follows a command's name is an input of the language."""
        magic = self.rows.get(self._others.get(name, name))
        return magic is not None and magic.usage == "INPUT"

    def overview(self) -> str:
        """All commands, and what they do."""
        rows = [(f"%{name} {one.usage}".rstrip(), one.meaning) for name, one in self.rows.items()]
        numbers = "N-M are numbers of inputs, as %history lists them: 3-9, 1-3 5, 7-"
        return f"{two_columns(rows)}\n{filled(numbers)}"

    def _show_help(self, session: Conversation, name: str) -> None:
        """Show what a command does; without a name, all of them."""
        name = name.removeprefix("%")
        name = self._others.get(name, name)
        if name == "help":
            session.write(self.overview())
        elif name in self.rows:
            magic = self.rows[name]
            session.write(f"%{name} {magic.usage}".rstrip() + f"\n  {magic.meaning}\n")
        else:
            raise MagicError(f"there is no %{name}")


# -- the tables

_LUA = {
    "save": Magic(
        "save.save",
        "[-f] PAGE.md [N-M ...]",
        "write inputs, with what they print, as a page",
    ),
    "load": Magic("editing.load", "FILE [N-M ...]", "put lines of a file into the next input"),
    "edit": Magic("editing.edit", "[N | NAME]", "edit an input in $EDITOR, and run the result"),
    "run": Magic("editing.run_file", "FILE [ARGUMENT ...]", "run a script, with `arg` set"),
    "history": Magic(
        "numbered_inputs.history", "[N-M ...]", "list inputs by their numbers (also %log)"
    ),
    "time": Magic("timing.time_input", "INPUT", "run an input, and tell how long it takes"),
    "timeit": Magic("timing.time_many", "INPUT", "run an input many times, and tell the best time"),
    "profile": Magic("timing.profile", "INPUT", "run an input, and tell which lines take long"),
    "who": Magic("globals.who", "", "list the globals of the session"),
    "reset": Magic("globals.reset", "-f", "remove the globals of the session"),
    "cd": Magic("numbered_inputs.change", "[FOLDER]", "change the current folder"),
    "pwd": Magic("numbered_inputs.tell", "", "tell the current folder"),
}
_PYTHON = {
    **_LUA,
    "save": Magic(".python.magics.save", "[-f] FILE.py [N-M ...]", "write inputs as a program"),
    "run": Magic(
        ".python.magics.run_file", "FILE [ARGUMENT ...]", "run a program, and take its names"
    ),
    "timeit": _LUA["timeit"]._replace(place=".python.magics.time_many"),
    "who": Magic(".python.magics.who", "", "list the names of the session"),
    "reset": Magic(".python.magics.reset", "-f", "remove the names of the session"),
}
del _PYTHON["profile"]  # Python has profilers of its own

LUA, PYTHON = MagicTable(_LUA), MagicTable(_PYTHON)
TABLES = {"lua": LUA, "python": PYTHON}
