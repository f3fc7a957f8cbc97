"""``th -i`` without a terminal: reads inputs line by line, without a prompt or banner."""

from __future__ import annotations

import signal
from io import RawIOBase
from typing import BinaryIO

from runtime import Engine
from th_shell.session.session import Session

__all__ = ["read_and_run", "run"]


def run(engine: Engine) -> int:
    """Run the inputs on the standard input; returns the exit status."""
    # Unbuffered, so that an input that reads from the standard input gets the line behind it.
    with open(0, "rb", buffering=0, closefd=False) as stream:
        try:
            read_and_run(Session(engine), stream)
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    return 0


def read_and_run(session: Session, stream: BinaryIO | RawIOBase) -> None:
    """Run the inputs on a stream until its end or 'exit'."""
    text = ""
    while line := stream.readline():
        text += line.decode("utf-8", "surrogateescape")
        if not session.wants_more(text):
            if not session.submit(text):
                return
            text = ""
    session.submit(text)
