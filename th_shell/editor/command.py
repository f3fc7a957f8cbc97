"""``th --lsp``: speaks with an editor through the standard input and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import BinaryIO

from th_shell.messages import NoMessageError, read_message
from th_shell.visible import UsageError, complain

try:
    from th_shell.editor.server import make_server
except ModuleNotFoundError as error:
    if error.name not in ("pygls", "lsprotocol"):
        raise
    raise ImportError("--lsp needs pygls: pip install 'th-shell[editor]'") from None

_DEPTH = 10_000  # of Python's calls, as th --check allows


def run(words: Sequence[str]) -> int:
    """Serve until the editor ends it; return the exit status. Raises UsageError."""
    if words:
        raise UsageError("--lsp takes no arguments")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    # What anything else writes must not come between the messages.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    parts = _parts(sys.stdin.buffer)
    source = SimpleNamespace(readline=partial(next, parts), read=lambda size: next(parts))
    try:
        make_server().start_io(source, output)
    except NoMessageError as error:
        complain(error)
        return 1
    return 0


def _parts(source: BinaryIO) -> Iterator[bytes]:
    """Yield what pygls reads of messages: at any other header, it would wait for ever."""
    while data := read_message(source):
        yield from (b"Content-Length: %d\r\n" % len(data), b"\r\n", data)
    yield b""
