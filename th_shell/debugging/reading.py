"""Asks for the lines that are typed behind `debug>`."""

from __future__ import annotations

import signal
from collections.abc import Callable

from th_shell.session.interrupt import handled

Ask = Callable[[str], str]


def line_reader(ask: Ask | None, prepare: Callable[[], object] | None = None) -> Ask:
    """What asks for a line: at the terminal, or on the standard input, as programs read it.

    It raises EOFError and KeyboardInterrupt. prepare: called before each question.
    """

    def read(question: str) -> str:
        if prepare is not None:
            prepare()
        # The editor at a terminal sets it, too, and a Ctrl-C belongs to the line that is typed.
        heard = signal.set_wakeup_fd(-1)
        try:
            with handled(signal.SIGINT, signal.default_int_handler):
                return (ask or _read_line)(question)
        finally:
            signal.set_wakeup_fd(heard, warn_on_full_buffer=False)

    return read


def _read_line(_: str) -> str:
    with open(0, "rb", buffering=0, closefd=False) as stream:
        line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "surrogateescape")
