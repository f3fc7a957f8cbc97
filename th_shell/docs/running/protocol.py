"""The protocol between th-docs and an engine, which runs the examples of a page.

The manual, `README.md` of `th_shell/docs`, tells what the messages are and what an engine does.
This module reads and writes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from th_shell.docs.running.system import MOST_WRITTEN

#: The file descriptors of an engine.
REQUESTS, REPLIES = 3, 4
#: What follows a reply `values`.
GO = b"go\n"

_BEGINNING = re.compile(
    rb"[A-Za-z]{0,60}|[A-Za-z]{1,60} \d{0,12}|[A-Za-z]{1,60} \d{1,12}\n.*", re.S
)


class Message(NamedTuple):
    """A request or a reply."""

    name: str
    body: bytes = b""


def write_message(descriptor: int, message: Message) -> None:
    """Write a message whole. Raises OSError."""
    data = b"%s %d\n%s\n" % (message.name.encode(), len(message.body), message.body)
    while data:
        data = data[os.write(descriptor, data) :]


def read_message(read: Callable[[int], bytes]) -> Message | None:
    """Read a message by a function that returns at most as many bytes as it is asked for.

    Returns None where the other side has ended, or has written something else.
    """
    line = b""
    while not line.endswith(b"\n"):
        byte = read(1)
        if not byte or len(line) > 80:
            return None
        line += byte
    name, _, size = line[:-1].partition(b" ")
    if not (name.isalpha() and size.isdigit() and int(size) <= MOST_WRITTEN):
        return None
    body = _exactly(read, int(size) + 1)
    return None if body is None else Message(name.decode(), body[:-1])


def may_begin(data: bytes) -> bool:
    """Whether a message may begin with these bytes, or is in them."""
    return bool(_BEGINNING.fullmatch(data))


def _exactly(read: Callable[[int], bytes], size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = read(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
