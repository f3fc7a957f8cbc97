"""A terminal for tests: keys in, and out what it shows."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

#: Starts a command of Python's whose terminal is its standard input, so that keys send it signals.
CONTROLLED = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class Terminal:
    """The far end of a terminal. raw: all that was written to it; parts: with the times, in s."""

    def __init__(self, columns: int = 100) -> None:
        self._fd, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._shown = self.raw = b""
        self.parts: list[tuple[float, bytes]] = []

    @contextmanager
    def running(self, command: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
        """A process in this terminal, which ends with the block."""
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), self.theirs)
        with subprocess.Popen(command, **streams, **options) as program:
            try:
                yield program
            finally:
                program.kill()

    def press(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def until(self, wanted: bytes) -> bytes:
        """What it showed since the last call, up to and with some text, without control codes."""
        assert self.shows(wanted, 20), self._shown
        before, _, self._shown = self._shown.partition(wanted)
        return before + wanted

    def shows(self, wanted: bytes, seconds: float) -> bool:
        """Whether a text is shown, after so many seconds without news at the latest."""
        while wanted not in self._shown:
            if not select.select([self._fd], [], [], seconds)[0]:
                return False
            part = os.read(self._fd, 4096)
            self.raw += part
            self.parts.append((monotonic(), part))
            self._shown = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self._shown + part)
        return True

    def forget(self) -> None:
        """Leave out of what `until` looks at what was shown before."""
        self._shown = b""

    def close(self) -> None:
        """Close both ends."""
        os.close(self._fd)
        os.close(self.theirs)
