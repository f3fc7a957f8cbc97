"""A terminal that keeps what is pressed, Ctrl-C among it, until somebody reads it.

Before an editor reads, and until what it has read runs, Ctrl-C is a key as all others are: as a
signal it might come where nobody hears it. Once it is a signal again, the keys that were pressed
before tell whether it was among them.
"""

from __future__ import annotations

import termios
from collections.abc import Callable
from typing import Any

_IN = 0

# What terminals do with input unless an editor does: flags of the modes of input and of lines.
_EDITED = termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR
_COOKED = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG


class KeptKeys:
    """Has the terminal keep keys one by one, as the editor will, until `read_with` or `close`."""

    def __init__(self, flags: int = 0) -> None:
        """Raises termios.error where there is no terminal. flags: what it does with keys still."""
        self._before: list[Any] | None = termios.tcgetattr(_IN)
        self._set(flags)

    def read_with(self, editor: Callable[[], str], take: Callable[[], None]) -> str:
        """Read an input with the editor. take: reads the keys that were pressed behind it."""
        try:
            text = editor()
            self._set(termios.ISIG)
            take()
            return text
        finally:
            self.close()

    def _set(self, flags: int) -> None:
        mode = termios.tcgetattr(_IN)
        mode[0] &= ~_EDITED
        mode[3] = mode[3] & ~_COOKED | flags
        mode[6][termios.VMIN] = 1
        termios.tcsetattr(_IN, termios.TCSANOW, mode)

    def close(self) -> None:
        """Leave the terminal as it was."""
        before, self._before = self._before, None
        if before is not None:
            termios.tcsetattr(_IN, termios.TCSADRAIN, before)
