"""The protocol between th-docs and an engine, which runs the examples of a page.

The manual, `README.md` of `th_shell/docs`, tells what the messages are and what an engine does.
This module reads and writes them.
"""

from __future__ import annotations

import os
import re
from typing import BinaryIO, NamedTuple

from th_shell.docs.running.system import MOST_WRITTEN

#: The file descriptors of an engine.
REQUESTS, REPLIES = 3, 4
#: The message that th-docs sends after a reply `values`.
GO = b"go\n"

_LONGEST_LINE = 80

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


def read_message(stream: BinaryIO) -> Message | None:
    """Read a message; return None at the end of the stream, and for any other text."""
    line = stream.readline(_LONGEST_LINE)
    name, _, size = line[:-1].partition(b" ")
    is_line = line.endswith(b"\n") and name.isalpha() and size.isdigit()
    if not is_line or int(size) > MOST_WRITTEN:
        return None
    body = stream.read(int(size) + 1)
    return Message(name.decode(), body[:-1]) if len(body) > int(size) else None


def may_begin(data: bytes) -> bool:
    """Tell whether bytes begin with a message, or may be the beginning of one."""
    return bool(_BEGINNING.fullmatch(data))
