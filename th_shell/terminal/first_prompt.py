"""The first prompt, which stands there before the editor and the engine are loaded.

To load them takes most of the start. Keys that are pressed meanwhile are read by a thread, which
shows plain text; the editor gets all of them, arrows and pastes too, and draws over what is there.
Before an editor reads, and until what it has read runs, Ctrl-C is a key as all others are: as a
signal it might come where nobody hears it. Once it is a signal again, the keys that were pressed
before tell whether it was among them.
"""

import _thread  # `threading` takes longer to import
import os
import select
import signal
import termios
from collections.abc import Callable
from typing import Any

from th_shell.visible import PROMPT, banner, columns

_IN = 0

# The work of terminals on input, but for an editor: flags of the modes of input and of lines.
_EDITED = termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR
_COOKED = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG


class KeptKeys:
    """Has the terminal keep keys one by one, as the editor will, until `read_with` or `close`."""

    def __init__(self) -> None:
        """Change the terminal's modes. Raises termios.error where there is no terminal."""
        self._before: list[Any] | None = termios.tcgetattr(_IN)
        self._set(0)

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
_PASTES, _PLAIN = b"\x1b[?2004h", b"\x1b[?2004l"  # what is pasted is marked as such, or not
_PART = 0.1  # seconds in which the rest of a character comes
_CHUNK = 4096


class FirstPrompt(KeptKeys):
    """Shows banner and prompt, and reads keys, until `take_keys` or `close`."""

    def __init__(self, text: str = "") -> None:
        """Show a text, by default the banner and the prompt of Lua, and begin to read keys.

        Raises OSError or termios.error where there is no terminal.
        """
        super().__init__()
        # A signal would end a program that has just shown its prompt, or leave modules half loaded.
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        shown = text or banner() + PROMPT
        os.write(_OUT, _PASTES + shown.encode())
        self._keys = b""
        self._room = columns() - len(shown.rpartition("\n")[2]) - 1  # for text that is shown
        self._woken, self._wake = os.pipe()
        self._reading = _thread.allocate_lock()
        self._reading.acquire()
        _thread.start_new_thread(self._read, ())

    def _read(self) -> None:
        """Read keys, and show them up to the first that is no letter, until `_stop`."""
        try:
            while self._woken not in select.select([_IN, self._woken], [], [])[0]:
                keys = os.read(_IN, _CHUNK)
                is_text = keys.isascii() and keys.decode().isprintable()
                self._room = self._room - len(keys) if is_text else 0
                if self._room > 0:
                    os.write(_OUT, keys)
                self._keys += keys
                if not keys:
                    return
        except OSError:  # the terminal is gone: whoever reads next finds out
            return
        finally:
            self._reading.release()

    def _stop(self) -> None:
        if self._wake >= 0:
            os.write(self._wake, b".")
            self._reading.acquire()
            os.close(self._wake)
            os.close(self._woken)
            self._wake = -1

    def take_keys(self) -> str:
        """Return the keys that were pressed so far; the editor reads those that follow."""
        self._stop()
        while True:
            try:
                return self._keys.decode()
            except UnicodeDecodeError as error:
                is_cut = error.reason == "unexpected end of data"
                if not is_cut or not select.select([_IN], [], [], _PART)[0]:
                    return self._keys.decode("utf-8", "surrogateescape")
                self._keys += os.read(_IN, 1)

    def read_with(self, editor: Callable[[], str], take: Callable[[], None]) -> str:
        """Read the first input with the editor, which shows its own prompt in place of this one."""
        os.write(_OUT, b"\r")
        return super().read_with(editor, take)

    def say(self, text: str) -> None:
        """Show lines above the prompt, which the editor shows again."""
        if text:
            os.write(_OUT, f"\r\x1b[K{text}".encode("utf-8", "surrogateescape"))

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._wake >= 0:  # no editor has come, which would have done this
            self._stop()
            os.write(_OUT, _PLAIN)
        super().close()
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._handler)
