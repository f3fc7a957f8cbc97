"""Tables of commands that begin with %: a table for each language.

A command is a function of the session and of the text behind its name. Its module is imported when
the command is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from th_shell.magics.errors import MagicError
from th_shell.paragraphs import filled, two_columns

if TYPE_CHECKING:
    from th_shell.session.conversation import Conversation


class Magic(NamedTuple):
    """A command. place: its module and its function. usage: what follows the name.

    meaning: a line on what it does.
    """

    place: str
    usage: str
    meaning: str


Function = Callable[[Any, str], None]

#: Names by which other programs know the commands.
_OTHER_NAMES = {"": "help", "log": "history", "hist": "history", "prun": "profile"}


class MagicTable:
    """The commands of a language, by their names. package: where their modules are."""

    def __init__(self, package: str, rows: Mapping[str, Magic]) -> None:
        self.rows = {**rows, "help": Magic("", "[NAME]", "list these commands")}
        self._package = package
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
        module, _, function = self.rows[name].place.partition(".")
        found: Function = getattr(import_module(f"{self._package}.{module}"), function)
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
