"""The commands of the Python prompt: inputs that are for the shell itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from th_shell.session.commands import CommandTable, run_system
from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.magics.tables import MagicTable
    from th_shell.python.session import PythonSession


def _help(session: PythonSession, name: str) -> None:
    from th_shell.python.help import about, overview

    _show(session, about(name, session.namespace) if name else overview())


def _source(session: PythonSession, name: str) -> None:
    from th_shell.python.help import overview, source

    _show(session, source(name, session.namespace) if name else overview())


def _show(session: PythonSession, text: str) -> None:
    session.write("".join(f"{visible(line)}\n" for line in text.splitlines()))


def _magic(session: PythonSession, line: str) -> None:
    _magics().run(session, line)


def _magics() -> MagicTable:
    from th_shell.python.magic_table import PYTHON

    return PYTHON


#: `$` is the mark of Lua's prompt, `!` that of IPython's.
COMMANDS = CommandTable(
    {"?": _help, "??": _source, "$": run_system, "!": run_system, "%": _magic}, _magics
)
