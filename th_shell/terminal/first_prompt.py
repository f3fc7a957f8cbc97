"""The first prompt, which stands there before the editor and the engine are loaded.

To load them takes most of the start. Keys that are pressed meanwhile are shown by the terminal and
wait in it; the editor reads them, and draws over what is there.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable

from th_shell.banner import PROMPT, banner
from th_shell.terminal.kept import KeptKeys

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
