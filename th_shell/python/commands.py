"""The commands of the Python prompt: inputs that are for the shell itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from th_shell.session.commands import CommandTable, run_system

if TYPE_CHECKING:
    from th_shell.python.session import PythonSession


def _help(session: PythonSession, name: str) -> None:
    from th_shell.python.help import about, overview

    session.show_text(about(name, session.namespace) if name else overview())


def _source(session: PythonSession, name: str) -> None:
    from th_shell.python.help import overview, source

    session.show_text(source(name, session.namespace) if name else overview())


#: `$` is the mark of Lua's prompt, `!` that of IPython's.
COMMANDS = CommandTable("python", {"?": _help, "??": _source, "!": run_system})
