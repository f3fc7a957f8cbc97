"""`%debug` and `%break`, and the debugger of a session."""

from __future__ import annotations

from th_shell.debugging.console import Console
from th_shell.debugging.reading import line_reader
from th_shell.runtime.shell import Dialogue
from th_shell.session.commands import MagicError
from th_shell.session.interrupt import Watch
from th_shell.session.session import Session


def debug(session: Session, text: str) -> None:
    """Look into the last error: `-c` lets go of it."""
    if text == "-c":
        session.engine.forget_frames()
        return
    if text:
        raise MagicError("it takes nothing; %run -d runs a file line by line")
    if not session.engine.request("frames"):
        raise MagicError("no frames of an error are kept")
    with session.stoppable():
        session.engine.examine(console_of(session).examine())


def set_break(session: Session, text: str) -> None:
    """Let programs stop at a line of a file; list or remove such places."""
    console = console_of(session)

    def told() -> Dialogue:
        shown = yield from console.breakpoints.command(text)
        session.write(shown)

    session.engine.examine(told())


def console_of(session: Session) -> Console:
    """The debugger of a session, at its prompt."""
    if not isinstance(session.debugger, Console):
        settle = session.watch.settle if isinstance(session.watch, Watch) else None
        session.debugger = Console(line_reader(session.ask, settle), session.sources)
    return session.debugger
