"""A terminal for tests: keys in, and out what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios

__all__ = ["Terminal"]


class Terminal:
    """The far end of a terminal, without colours."""

    def __init__(self, columns: int = 100) -> None:
        self._fd, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._shown = b""

    def streams(self) -> dict[str, int]:
        """The standard streams of a process in this terminal."""
        return dict.fromkeys(("stdin", "stdout", "stderr"), self.theirs)

    def press(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def until(self, wanted: bytes, raw: bool = False) -> bytes:
        """What it showed since the last call, up to and with some text; raw: with control codes."""
        while wanted not in self._shown:
            assert select.select([self._fd], [], [], 20)[0], self._shown
            self._shown += os.read(self._fd, 4096)
            if not raw:
                self._shown = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self._shown)
        before, _, self._shown = self._shown.partition(wanted)
        return before + wanted

    def close(self) -> None:
        """Close both ends."""
        os.close(self._fd)
        os.close(self.theirs)
