"""The standard output and error of this process, captured by pipes."""

import codecs
import fcntl
import os
import termios
from array import array
from contextlib import suppress

_ROOM = 1 << 18  # bytes that a pipe holds, where the system lets us say so
#: The names of the streams, by their descriptors.
NAMES = {1: "stdout", 2: "stderr"}


class CapturedStream:
    """One captured descriptor: the pipe that it writes to, and the decoder of its text."""

    def __init__(self, descriptor: int) -> None:
        self.name = NAMES[descriptor]
        self.pipe, writer = os.pipe()
        with suppress(AttributeError, OSError):  # The system's own size will do.
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _ROOM)
        os.dup2(writer, descriptor)
        # The pipe must not end where a program closes its output.
        self._writer = writer
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def read(self, final: bool = False) -> str:
        """Return the text that has arrived. final: with the bytes of an incomplete character."""
        # Not until the pipe is empty: a command in the background may write without end.
        there = array("i", [0])
        fcntl.ioctl(self.pipe, termios.FIONREAD, there)
        return self._decode(os.read(self.pipe, there[0]) if there[0] else b"", final)
