"""Inputs that are for the shell itself and not for Lua: how they begin, and what runs them.

A command is a function of the session and of the text behind its mark. Modules of commands are
imported when the command is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.session.session import Session

__all__ = ["find_command", "is_command", "marks", "takes_input"]

Command = Callable[["Session", str], None]


def _help(session: Session, name: str) -> None:
    from th_shell.help.about import about
    from th_shell.help.overview import overview

    text = about(name, session.engine, session.log, session.texts) if name else overview()
    session.write("".join(f"{visible(line)}\n" for line in text.splitlines()))


def _examples(session: Session, name: str) -> None:
    from th_shell.help.examples import show_examples

    show_examples(session, name)


def _system(session: Session, line: str) -> None:
    from th_shell.session.system_commands import run_command
    from th_shell.session.variables import WrongVariable, substitute

    try:
        command = substitute(line, lambda name: session.engine.text_of([f".{name}"]))
    except WrongVariable as error:
        session.write(f"{error}\n")
        return
    session.engine.keep(run_command(command, session.write_through))


def _magic(session: Session, line: str) -> None:
    from th_shell.magics.table import run

    run(session, line)


#: The commands by their marks. Of two marks that an input begins with, the longer one counts.
_COMMANDS: dict[str, Command] = {"?": _help, "??": _examples, "$": _system, "%": _magic}


def marks() -> list[str]:
    """The beginnings of inputs that are commands, in alphabetic order."""
    from th_shell.magics.table import MAGICS

    return sorted([*_COMMANDS, *(f"%{name}" for name in MAGICS)])


def takes_input(mark: str) -> bool:
    """Whether an input of Lua stands behind a mark: '%time'."""
    from th_shell.magics import table

    return table.takes_input(mark.removeprefix("%"))


def _mark(text: str) -> str:
    found = [mark for mark in _COMMANDS if text.lstrip().startswith(mark)]
    return max(found, key=len, default="")


def is_command(text: str) -> bool:
    """Whether an input is for the shell itself: '? name', '$ command', '%name'."""
    return bool(_mark(text))


def find_command(text: str) -> tuple[Command, str] | None:
    """The command that an input calls, and the text behind its mark; None where it is Lua."""
    mark = _mark(text)
    return (_COMMANDS[mark], text.strip().removeprefix(mark).strip()) if mark else None
