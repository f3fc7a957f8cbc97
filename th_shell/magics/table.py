"""The commands that begin with %, by their names.

A command is a function of the session and of the text behind its name. Its module is imported when
the command is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from runtime import LuaError
from th_shell.magics.errors import MagicError
from th_shell.paragraphs import filled, two_columns
from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.session.session import Session

__all__ = ["MAGICS", "Magic", "overview", "run", "takes_input"]


class Magic(NamedTuple):
    """A command. place: its module in this folder and its function. usage: what follows the name.

    meaning: a line on what it does.
    """

    place: str
    usage: str
    meaning: str


MAGICS: Mapping[str, Magic] = {
    "save": Magic(
        "save.save", "[-f] PAGE.md [N-M ...]", "write inputs, with what they print, as a page"
    ),
    "load": Magic("editing.load", "FILE [N-M ...]", "put lines of a file into the next input"),
    "edit": Magic("editing.edit", "[N | NAME]", "edit an input in $EDITOR, and run the result"),
    "run": Magic("editing.run_file", "FILE [ARGUMENT ...]", "run a script, with `arg` set"),
    "history": Magic("inputs.history", "[N-M ...]", "list inputs by their numbers (also %log)"),
    "time": Magic("timing.time_input", "INPUT", "run an input, and tell how long it takes"),
    "timeit": Magic("timing.time_many", "INPUT", "run an input many times, and tell the best time"),
    "profile": Magic("profiling.profile", "INPUT", "run an input, and tell which lines take long"),
    "who": Magic("globals.who", "", "list the globals of the session"),
    "reset": Magic("globals.reset", "-f", "remove the globals of the session"),
    "cd": Magic("folders.change", "[FOLDER]", "change the current folder"),
    "pwd": Magic("folders.tell", "", "tell the current folder"),
    "help": Magic("table.show_help", "[NAME]", "list these commands"),
}
_OTHER_NAMES = {"": "help", "log": "history", "hist": "history", "prun": "profile"}

Function = Callable[["Session", str], None]


def run(session: Session, text: str) -> None:
    """Run the command that a text names; what it cannot do is one line, of output or an error."""
    name, _, rest = text.strip().partition(" ")
    name = _OTHER_NAMES.get(name, name)
    try:
        _function(name)(session, rest.strip())
    except MagicError as error:
        if session.take_error is not None:
            session.take_error(LuaError(f"%{name}: {error}"))
        else:
            session.write(visible(f"%{name}: {error}\n"))


def _function(name: str) -> Function:
    if name not in MAGICS:
        close = get_close_matches(name, [*MAGICS, *filter(None, _OTHER_NAMES)], 3)
        hint = f"there is {', '.join(f'%{one}' for one in close)}" if close else "%help lists all"
        raise MagicError(f"no such command; {hint}")
    module, _, function = MAGICS[name].place.partition(".")
    found: Function = getattr(import_module(f"th_shell.magics.{module}"), function)
    return found


def takes_input(name: str) -> bool:
    """Whether what follows a command's name is an input of Lua."""
    magic = MAGICS.get(_OTHER_NAMES.get(name, name))
    return magic is not None and magic.usage == "INPUT"


def overview() -> str:
    """All commands, and what they do."""
    rows = [(f"%{name} {magic.usage}".rstrip(), magic.meaning) for name, magic in MAGICS.items()]
    numbers = "N-M are numbers of inputs, as %history lists them: 3-9, 1-3 5, 7-"
    return f"{two_columns(rows)}\n{filled(numbers)}"


def show_help(session: Session, name: str) -> None:
    """Show what a command does; without a name, all of them."""
    name = name.removeprefix("%")
    name = _OTHER_NAMES.get(name, name)
    if name == "help":
        session.write(overview())
    elif name in MAGICS:
        magic = MAGICS[name]
        session.write(f"%{name} {magic.usage}".rstrip() + f"\n  {magic.meaning}\n")
    else:
        raise MagicError(f"there is no %{name}")
