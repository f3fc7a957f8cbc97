"""The first prompt, which stands there before the editor and the engine are loaded.

To load them takes most of the start. Keys that are pressed meanwhile are shown by the terminal and
wait in it; the editor reads them, and draws over what is there. Before an editor reads, and until
what it has read runs, Ctrl-C is a key as all others are: as a signal it might come where nobody
hears it. Once it is a signal again, the keys that were pressed before tell whether it was among
them.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable
from typing import Any

from th_shell.banner import PROMPT, banner

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


# -- the first prompt

_OUT = 1


class FirstPrompt(KeptKeys):
    """Shows banner and prompt, and has the terminal keep keys, until `read_with` or `close`."""

    def __init__(self, text: str = "") -> None:
        """To be used at a terminal. Raises OSError or termios.error where there is none.

        text: what is shown, by default the banner and the prompt of Lua.
        """
        super().__init__(termios.ECHO | termios.ECHOCTL)
        # A signal would end a program that has just shown its prompt, or leave modules half loaded.
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(_OUT, (text or banner() + PROMPT).encode())

    def read_with(self, editor: Callable[[], str], take: Callable[[], None]) -> str:
        """Read the first input with the editor, which shows its own prompt in place of this one."""
        self._set(0)  # the cursor must stay where the editor begins to draw
        os.write(_OUT, b"\r")
        return super().read_with(editor, take)

    def say(self, text: str) -> None:
        """Show lines above the prompt, which the editor shows again."""
        if text:
            os.write(_OUT, f"\r\x1b[K{text}".encode("utf-8", "surrogateescape"))

    def close(self) -> None:
        """Leave the terminal as it was."""
        super().close()
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._handler)
