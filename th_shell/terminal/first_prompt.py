"""The first prompt, which stands there before the editor and the engine are loaded.

To load them takes most of the start. Keys that are pressed meanwhile wait in the terminal, which
does not show them until the editor does.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable
from typing import Any

from th_shell.terminal.banner import BANNER, PROMPT

__all__ = ["FirstPrompt"]

_IN, _OUT = 0, 1


class FirstPrompt:
    """Shows banner and prompt, and has the terminal keep keys, until `read_with` or `close`."""

    def __init__(self) -> None:
        """To be used at a terminal. Raises OSError or termios.error where there is none."""
        self._before: list[Any] | None = termios.tcgetattr(_IN)
        # A signal would end a program that has just shown its prompt, or leave modules half loaded.
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        termios.tcsetattr(_IN, termios.TCSANOW, _keeping(termios.tcgetattr(_IN)))
        os.write(_OUT, (BANNER + PROMPT).encode())

    def read_with(self, editor: Callable[[], str]) -> str:
        """Read the first input with the editor, which shows its own prompt in place of this one."""
        os.write(_OUT, b"\r")
        try:
            return editor()
        finally:
            self.close()

    def close(self) -> None:
        """Leave the terminal as it was."""
        before, self._before = self._before, None
        if before is not None:
            termios.tcsetattr(_IN, termios.TCSADRAIN, before)
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
                signal.signal(signal.SIGINT, self._handler)


def _keeping(mode: list[Any]) -> list[Any]:
    """A terminal's mode, changed as the editor will change it: keys are kept one by one."""
    mode[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    mode[6][termios.VMIN] = 1
    return mode
