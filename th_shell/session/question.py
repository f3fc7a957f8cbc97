"""A question at the terminal that one key answers, while something else runs."""

from __future__ import annotations

import os
import select
import termios
from types import TracebackType

_LOCAL_MODES = 3  # the place of these in what termios returns
_CHARACTERS = 6
_QUEUE = termios.TCIFLUSH


class Question:
    """The terminal while a question is there: keys come at once, and are not signals.

    A context manager: at its end the terminal is as before.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._modes = termios.tcgetattr(terminal)

    @classmethod
    def at_terminal(cls) -> Question | None:
        """At the terminal that controls the process; None where there is none."""
        try:
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            return None
        try:
            return cls(terminal)
        except termios.error:
            os.close(terminal)
            return None

    def __enter__(self) -> Question:
        modes = termios.tcgetattr(self._terminal)
        modes[_LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        modes[_CHARACTERS][termios.VMIN] = 1
        modes[_CHARACTERS][termios.VTIME] = 0
        termios.tcsetattr(self._terminal, termios.TCSANOW, modes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes)
        os.close(self._terminal)

    def ask(self, text: str, end: int) -> bytes:
        """Show a text and wait for a key; nothing if a byte 0 comes from the pipe `end` before."""
        termios.tcflush(self._terminal, _QUEUE)  # keys from before the question are no answer
        os.write(self._terminal, text.encode())
        waiting = [self._terminal, end]
        answer = b""
        while not answer:
            ready, _, _ = select.select(waiting, [], [])
            if end in ready and 0 in (os.read(end, 512) or b"\0"):
                break
            if self._terminal in ready:
                answer = os.read(self._terminal, 1)
                if not answer:
                    break
        os.write(self._terminal, answer + b"\n" if answer.isalnum() else b"\n")
        return answer
