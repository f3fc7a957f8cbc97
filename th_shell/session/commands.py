"""Inputs that are for the shell itself and not code: a table for each language, and what runs them.

A command is a function of the session, which is of the command's language, and of the text behind
its mark or name. Its module is imported when the command is first used: so modules of commands may
use those of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple


class MagicError(Exception):
    """A command that could not be done; the reason is shown in one line behind its name."""

    @classmethod
    def of(cls, name: str, error: OSError | ValueError) -> MagicError:
        """Return a file or program that cannot be used, as the system says, or for its name."""
        return cls(f"{name}: {error.strerror if isinstance(error, OSError) else error}")


class Command(NamedTuple):
    """A command. place: its module, seen from the rooms' folder, and its function.

    usage: what follows the name. meaning: a line on what it does.
    """

    place: str
    usage: str = ""
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


_LUA = {
    "?": Command("magics.explaining.show_help"),
    "??": Command("magics.explaining.show_examples"),
    "$": Command("session.system_commands.run_line"),
    "%save": Command(
        "magics.save.save",
        "[-f] PAGE.md [N-M ...]",
        "write inputs, with what they print, as a page",
    ),
    "%load": Command(
        "magics.code_files.load", "FILE [N-M ...]", "put lines of a file into the next input"
    ),
    "%edit": Command(
        "magics.code_files.edit", "[N | NAME]", "edit an input in $EDITOR, and run the result"
    ),
    "%run": Command(
        "magics.code_files.run_file",
        "[-d] FILE [ARGUMENT ...]",
        "run a script, with `arg` set; -d: line by line",
    ),
    "%history": Command(
        "magics.numbered_inputs.history", "[N-M ...]", "list inputs by their numbers (also %log)"
    ),
    "%time": Command(
        "magics.timing.time_input", "INPUT", "run an input, and tell how long it takes"
    ),
    "%timeit": Command(
        "magics.timing.time_many", "INPUT", "run an input many times, and tell the best time"
    ),
    "%profile": Command(
        "magics.timing.profile", "INPUT", "run an input, and tell which lines take long"
    ),
    "%debug": Command("debugging.commands.debug", "[-c]", "look into the last error: its frames"),
    "%break": Command(
        "debugging.commands.set_break",
        "[FILE:LINE [if EXPR] | -c [N]]",
        "stop programs at a line; list or remove such lines",
    ),
    "%capture": Command(
        "magics.recording.capture", "NAME INPUT", "run an input; NAME is then what it has printed"
    ),
    "%store": Command(
        "magics.variables.store",
        "[NAME ... | -d NAME ...]",
        "keep variables for other sessions; list them; -d: delete them",
    ),
    "%restore": Command(
        "magics.variables.restore", "[NAME ...]", "set variables to what %store keeps"
    ),
    "%logstart": Command(
        "magics.recording.start", "FILE", "append inputs, with what they print, to a file"
    ),
    "%logstop": Command("magics.recording.stop", "", "end that"),
    "%reload": Command(
        "magics.code_files.reload", "[MODULE ...]", "load required modules anew, in place"
    ),
    "%autoreload": Command(
        "magics.code_files.switch", "[on | off]", "do so before each input where files have changed"
    ),
    "%who": Command("magics.variables.who", "", "list the globals of the session"),
    "%reset": Command("magics.variables.reset", "-f", "remove the globals of the session"),
    "%cd": Command(
        "session.system_commands.change_folder", "[FOLDER]", "change the current folder"
    ),
    "%pwd": Command("session.system_commands.tell_folder", "", "tell the current folder"),
    "%help": Command("magics.explaining.list_commands", "[NAME]", "list these commands"),
}
_PYTHON = {
    **_LUA,
    "?": Command("python.commands.show_help"),
    "??": Command("python.commands.show_source"),
    "!": _LUA["$"],  # as in IPython
    "%save": Command("python.commands.save", "[-f] FILE.py [N-M ...]", "write inputs as a program"),
    "%run": Command(
        "python.commands.run_file", "FILE [ARGUMENT ...]", "run a program, and take its names"
    ),
    "%timeit": _LUA["%timeit"]._replace(place="python.commands.time_many"),
    "%profile": Command(
        "python.commands.profile", "INPUT", "run an input, and tell which functions take long"
    ),
    "%debug": Command("python.commands.debug", "", "look into the last error by pdb"),
    "%who": Command("python.commands.who", "", "list the names of the session"),
    "%reset": Command("python.commands.reset", "-f", "remove the names of the session"),
}
# Python has breakpoint(), importlib and pickle.
for _name in ("%break", "%store", "%restore", "%reload", "%autoreload"):
    del _PYTHON[_name]

#: The commands of sessions of Lua, and of Python.
COMMANDS, PYTHON_COMMANDS = CommandTable(_LUA), CommandTable(_PYTHON)

is_command = COMMANDS.is_command
