"""``th -i`` without a terminal: the inputs come line by line, without prompt or banner."""

from __future__ import annotations

from typing import BinaryIO

from runtime import Engine
from th_shell.session import Session

__all__ = ["run"]


def run(engine: Engine, stream: BinaryIO | None = None) -> int:
    """Run the inputs on a stream, by default the standard input; the exit status."""
    if stream is None:
        # Unbuffered: an input that itself reads gets the line behind it.
        with open(0, "rb", buffering=0, closefd=False) as raw:
            return run(engine, raw)
    session = Session(engine)
    text = ""
    while line := stream.readline():
        text += line.decode("utf-8", "surrogateescape")
        if not session.wants_more(text):
            if not session.submit(text):
                return 0
            text = ""
    session.submit(text)
    return 0
