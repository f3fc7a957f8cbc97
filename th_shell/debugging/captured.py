"""What a program writes to the standard output and error, read from pipes in their places."""

from __future__ import annotations

import codecs
import os
import select
import threading
from collections.abc import Callable

_NAMES = {1: "stdout", 2: "stderr"}
_ROOM = 1 << 16  # bytes that are read at once


class _Pipe:
    """A pipe in the place of a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.name = _NAMES[descriptor]
        self.end, writer = os.pipe()
        os.set_blocking(self.end, False)
        os.dup2(writer, descriptor)
        os.close(writer)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def read(self) -> str:
        """What has arrived."""
        try:
            return self._decode(os.read(self.end, _ROOM))
        except BlockingIOError:
            return ""


class Captured:
    """Replaces the descriptors 1 and 2 of the process. tell: gets a stream's name and a text."""

    def __init__(self, tell: Callable[[str, str], object]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._pipes = [_Pipe(descriptor) for descriptor in _NAMES]
        threading.Thread(target=self._read_on, daemon=True).start()

    def _read_on(self) -> None:
        while True:
            select.select([pipe.end for pipe in self._pipes], [], [])
            self.pass_on()

    def pass_on(self) -> None:
        """Tell of all that has arrived."""
        with self._lock:
            for pipe in self._pipes:
                while text := pipe.read():
                    self._tell(pipe.name, text)
