"""A terminal for programs that tests start."""

from __future__ import annotations

import os
import pty
import re
import select

__all__ = ["Terminal"]


class Terminal:
    """The far end of a terminal: keys in, and out what it shows, without colours."""

    def __init__(self) -> None:
        self._fd, self.theirs = pty.openpty()
        self._shown = b""

    def press(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def until(self, wanted: bytes) -> bytes:
        """What it showed since the last call, up to and with some text."""
        assert self.shows(wanted, 20), self._shown
        before, _, self._shown = self._shown.partition(wanted)
        return before + wanted

    def shows(self, wanted: bytes, seconds: float) -> bool:
        """Whether a text is shown, after so many seconds without news at the latest."""
        while wanted not in self._shown:
            if not select.select([self._fd], [], [], seconds)[0]:
                return False
            self._shown += os.read(self._fd, 4096)
            self._shown = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self._shown)
        return True

    def close(self) -> None:
        os.close(self._fd)
        os.close(self.theirs)
