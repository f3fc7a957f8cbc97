"""Inputs that are for the shell itself and not code: how they begin, and what runs them.

A command is a function of the session and of the text behind its mark. Modules of commands are
imported when the command is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from th_shell.magics.table import MagicTable
    from th_shell.session.conversation import Conversation
    from th_shell.session.session import Session

#: A function of a session, which is of the command's language, and of the text behind the mark.
Command = Callable[[Any, str], None]


def _help(session: Session, name: str) -> None:
    from th_shell.help.about import about, overview

    session.show_text(
        about(name, session.engine, session.log, session.texts) if name else overview()
    )


def _examples(session: Session, name: str) -> None:
    from th_shell.help.examples import show_examples

    show_examples(session, name)


def run_system(session: Conversation, line: str) -> None:
    """Run a command of the system's shell."""
    from th_shell.session.system_commands import WrongVariable, run_command, substitute

    try:
        command = substitute(line, session.text_of)
    except WrongVariable as error:
        session.write(f"{error}\n")
        return
    session.keep(run_command(command, session.write_through))


class CommandTable:
    """The commands of a language, by their marks. All languages have `$ command` and `%name`.

    Of two marks that an input begins with, the longer one counts. magics: the name of the table of
    the commands that begin with %.
    """

    def __init__(self, magics: str, commands: Mapping[str, Command]) -> None:
        self._name = magics
        self._commands = {**commands, "$": run_system, "%": self._run_magic}

    @property
    def _magics(self) -> MagicTable:
        from th_shell.magics import table

        return table.TABLES[self._name]

    def _run_magic(self, session: Conversation, line: str) -> None:
        self._magics.run(session, line)

    def marks(self) -> list[str]:
        """The beginnings of inputs that are commands, in alphabetic order."""
        return sorted([*self._commands, *(f"%{name}" for name in self._magics.rows)])

    def takes_input(self, mark: str) -> bool:
        """Whether an input of the language stands behind a mark: '%time'."""
        return self._magics.takes_input(mark.removeprefix("%"))

    def is_command(self, text: str) -> bool:
        """Whether an input is for the shell itself: '? name', '$ command', '%name'."""
        return bool(self._mark(text))

    def find(self, text: str) -> tuple[Command, str] | None:
        """The command that an input calls, and the text behind its mark; None where it is code."""
        mark = self._mark(text)
        return (self._commands[mark], text.strip().removeprefix(mark).strip()) if mark else None

    def _mark(self, text: str) -> str:
        found = [mark for mark in self._commands if text.lstrip().startswith(mark)]
        return max(found, key=len, default="")


#: The commands of a session of Lua.
COMMANDS = CommandTable("lua", {"?": _help, "??": _examples})

is_command, find_command = COMMANDS.is_command, COMMANDS.find
