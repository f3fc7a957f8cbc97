"""`%debug` and `%break`, and the debugger of a session."""

from __future__ import annotations

import signal
from collections.abc import Callable

from runtime import Dialogue
from th_shell.debugging.console import Console
from th_shell.session.commands import MagicError
from th_shell.session.interrupt import Watch, handled
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
        session.debugger = Console(reader(session), session.log)
    return session.debugger


def reader(session: Session) -> Callable[[str], str]:
    """What asks for a line: at the terminal, or on the standard input, as programs read it."""

    def read(question: str) -> str:
        if isinstance(session.watch, Watch):
            session.watch.settle()
        # The editor at a terminal sets it, too, and a Ctrl-C belongs to the line that is typed.
        heard = signal.set_wakeup_fd(-1)
        try:
            with handled(signal.SIGINT, signal.default_int_handler):
                return (session.ask or _read_line)(question)
        finally:
            signal.set_wakeup_fd(heard, warn_on_full_buffer=False)

    return read


def _read_line(_: str) -> str:
    with open(0, "rb", buffering=0, closefd=False) as stream:
        line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "surrogateescape")
