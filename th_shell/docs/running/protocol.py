"""The protocol between th-docs and an engine, which runs the examples of a page.

An engine is a process that each run of a page starts anew, in an empty folder. It reads requests
from descriptor 3 and writes a reply to each to descriptor 4; what examples print goes to 1 and 2. A
message is a line with a word and a number, then so many bytes, its body, and a newline.

    begin   begins a run; lines of a name and a number: seed, fill (of new memory), clock (seconds
            by which it is later), step (seconds by which it goes on at each look), falling (1
            where named fields come in falling order)
    block   a block of Lua begins: sets back what a block may change for itself
    seed    sets the seed of random numbers
    run     runs code and shows no values
    input   runs an input as a prompt does, and shows its values
    several does what several requests ask for, and replies to each, up to the first that fails; its
            body has their messages. Python and this project's Lua know it
    shown   runs an input that must print something, as one of several: if it prints nothing, or in
            Lua `nil`, the reply is `silent`, and nothing more is done of what was sent with it
    cell    runs statements of Python as a notebook does, which shows the value of the last one
    module  begins a namespace with the names of a module of Python: a folder, and the name

The replies are `done` and `error`, with the message. During `input` and `cell` an engine may reply
`values` first: what follows is the values that the prompt shows. Its body is the number of bytes
that were printed so far; an engine that does not know it reads the line `go` then. The body of
`done` may be that number, too; behind `several` it must be. An engine that gets SIGINT stops the
example and replies `error`.
"""

import os
import re
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

from th_shell.docs.running.system import MOST_WRITTEN

#: The file descriptors of an engine.
REQUESTS, REPLIES = 3, 4
#: The file in a run's folder that has the number of the engine's process.
PROCESS_FILE = "process"
#: The message that th-docs sends after a reply `values`.
GO = b"go\n"

_LONGEST_LINE = 80

#: A message, or as much of one as has arrived.
_BEGINNING = re.compile(
    rb"[A-Za-z]{0,60}|[A-Za-z]{1,60} \d{0,12}|[A-Za-z]{1,60} \d{1,12}\n.*", re.S
)


class Message(NamedTuple):
    """A request or a reply."""

    name: str
    body: bytes = b""


def message_of(message: Message) -> bytes:
    """Return a message as it is written."""
    return b"%s %d\n%s\n" % (message.name.encode(), len(message.body), message.body)


def write_message(descriptor: int, message: Message) -> None:
    """Write a message whole. Raises OSError."""
    data = message_of(message)
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


def single_requests(request: Message) -> Iterator[Message]:
    """Yield a request, or those that `several` consists of."""
    if request.name != "several":
        yield request
        return
    stream = BytesIO(request.body)
    while one := read_message(stream):
        yield one


def may_begin(data: bytes) -> bool:
    """Tell whether bytes begin with a message, or may be the beginning of one."""
    return bool(_BEGINNING.fullmatch(data))
