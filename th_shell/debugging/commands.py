"""`%debug` and `%break`, the debugger of a session, and the lines behind `debug>`."""

from __future__ import annotations

import signal
from collections.abc import Callable

from th_shell.debugging.console import Console
from th_shell.runtime.shell import Dialogue, Stop
from th_shell.session.commands import MagicError
from th_shell.session.interrupt import Watch, handled
from th_shell.session.session import Session

Asking = Callable[[str], str]


def debug(session: Session, text: str) -> None:
    """Look into the last error: `-c` lets go of it."""
    if text == "-c":
        session.engine.debugging.forget_frames()
        return
    if text:
        raise MagicError("it takes nothing; %run -d runs a file line by line")
    if not session.engine.debugging.request("frames"):
        raise MagicError("no frames of an error are kept")
    with session.stoppable():
        session.engine.debugging.examine(console_of(session).examine())


def set_break(session: Session, text: str) -> None:
    """Let programs stop at a line of a file; list or remove such places."""
    console = console_of(session)

    def dialogue() -> Dialogue:
        shown = yield from console.breakpoints.command(text)
        session.write(shown)

    session.engine.debugging.examine(dialogue())


def attach(session: Session) -> None:
    """Let the person at a session's prompt be asked where a program stops."""

    def stopped(stop: Stop) -> Dialogue:
        return console_of(session)(stop)

    session.engine.debugging.debug_by(stopped)


def console_of(session: Session) -> Console:
    """Return the debugger of a session, which asks at its prompt."""
    if not isinstance(session.debugger, Console):
        settle = session.watch.settle if isinstance(session.watch, Watch) else None
        session.debugger = Console(line_reader(session.ask, settle), session.sources)
    return session.debugger


def line_reader(ask: Asking | None, prepare: Callable[[], object] | None = None) -> Asking:
    """Return a function that asks for a line: by `ask`, or on the standard input.

    It raises EOFError and KeyboardInterrupt. prepare: called before each question.
    """

    def read(question: str) -> str:
        if prepare is not None:
            prepare()
        # The editor at a terminal sets it, too, and a Ctrl-C belongs to the line that is typed.
        descriptor = signal.set_wakeup_fd(-1)
        try:
            with handled(signal.SIGINT, signal.default_int_handler):
                return (ask or _read_line)(question)
        finally:
            signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)

    return read


def _read_line(_: str) -> str:
    with open(0, "rb", buffering=0, closefd=False) as stream:
        line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "surrogateescape")
