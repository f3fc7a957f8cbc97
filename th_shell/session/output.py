"""The standard output: reads it while it is shown all the same, or shows it in a pager.

Lua, Python and child processes write to the file descriptor 1. It is replaced by a pseudo-terminal
where it is a terminal, so that programs still see one, and by a pipe elsewhere. A thread copies
what comes through it, at once. A mark in the stream tells that all that was written before has been
copied; it is not shown.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from th_shell.runtime.shell import without_limit

_STDOUT = 1
_SYNC, _CUT = b"\0", b"\1"  # the last byte of a mark: somebody waits for it, or a part ends
_MOST_KEPT = 1 << 20  # bytes of a text, as th-docs keeps


class OutputCopy:
    """A context in which the standard output is read.

    Entering it raises OSError where the system has no more files or threads. What a process that
    was started within the context prints later is still shown.
    """

    def __init__(
        self, listener: Callable[[bytes], object] | None = None, again: bool = False
    ) -> None:
        """Prepare the copy. listener: gets in the thread what is written, as it comes.

        again: the context is entered again and again, which then takes less time; its files and
        thread stay.
        """
        self._listener = listener
        self._again = again
        self._mark = b"\0%s" % secrets.token_hex(16).encode()  # and a byte: _SYNC or _CUT
        self._seen = threading.Semaphore(0)
        self._text = bytearray()
        self._parts: list[bytes] = []
        self._shown = True
        self._is_open = False

    def __enter__(self) -> OutputCopy:
        with _signals_blocked():
            if self._is_open:
                _set_size(self._writer, self._real)
            else:
                self._open()
            os.dup2(self._writer, _STDOUT)
        return self

    def _open(self) -> None:
        self._real = os.dup(_STDOUT)
        try:
            reader, self._writer = _channel(self._real)
        except OSError:
            os.close(self._real)
            raise
        thread = threading.Thread(target=self._copy, args=(reader, self._real), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads
            for file in (self._real, reader, self._writer):
                os.close(file)
            raise OSError(str(error)) from None
        self._is_open = True

    def __exit__(self, *_: object) -> None:
        self.text()
        with _signals_blocked():
            os.dup2(self._real, _STDOUT)
            if not self._again:
                os.close(self._writer)
                self._is_open = False

    def text(self) -> bytes:
        """Return what was written since the last `clear`; the writers have to flush before."""
        os.write(self._writer, self._mark + _SYNC)
        self._seen.acquire()
        return bytes(self._text)

    def clear(self, shown: bool = True) -> None:
        """Begin a new text, after `text`. shown: whether it is shown, too."""
        self._text.clear()
        self._shown = shown

    def cut(self) -> None:
        """End a part of the text, which `take_parts` returns later, and begin the next."""
        os.write(self._writer, self._mark + _CUT)

    def take_parts(self) -> list[bytes]:
        """Return the parts that were cut since the last call, up to the last `text` or exit."""
        parts, self._parts = self._parts, []
        return parts

    def _copy(self, reader: int, real: int) -> None:
        left = b""
        with suppress(OSError):  # a pseudo-terminal that nobody has open any more
            while part := os.read(reader, 65536):
                left = self._pass_on(left + part, real)
        os.close(reader)
        os.close(real)

    def _pass_on(self, data: bytes, real: int) -> bytes:
        """Show what was read; return its end where that may be the beginning of a mark."""
        size = len(self._mark) + 1
        while 0 <= (at := data.find(self._mark)) <= len(data) - size:
            self._show(data[:at], real)
            kind, data = data[at + size - 1 : at + size], data[at + size :]
            if kind == _CUT:
                self._parts.append(bytes(self._text))
                self._text.clear()
            else:
                self._seen.release()
        at = data.rfind(b"\0", -size)
        end = at if at >= 0 and self._mark.startswith(data[at : at + size - 1]) else len(data)
        self._show(data[:end], real)
        return data[end:]

    def _show(self, data: bytes, real: int) -> None:
        if len(self._text) < _MOST_KEPT:  # what is longer is only shown
            self._text += data
        if self._listener is not None and data:
            self._listener(data)
        while data and self._shown:
            try:
                data = data[os.write(real, data) :]
            except OSError:
                return  # nobody reads the output; Lua's own writes would fail, too


def _channel(output: int) -> tuple[int, int]:
    """Return the file to read from, and the one that takes the place of an output."""
    if not os.isatty(output):
        return os.pipe()
    reader, writer = os.openpty()
    mode = termios.tcgetattr(output)
    mode[1] &= ~termios.OPOST  # the terminal itself does this
    termios.tcsetattr(writer, termios.TCSANOW, mode)
    _set_size(writer, output)
    return reader, writer


def _set_size(writer: int, output: int) -> None:
    """Let a pseudo-terminal have the size of the terminal that it stands for."""
    if os.isatty(output):
        size = fcntl.ioctl(output, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(writer, termios.TIOCSWINSZ, size)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    # Ctrl-C between two of these steps would leave the output elsewhere. The thread that starts
    # within keeps the signal blocked: it is for the main thread.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- the pager

#: less shows colours, leaves the text on the screen, and ends at once where it fits.
_ENVIRONMENT = {"LESS": "RFX"}


def show_in_pager(text: str) -> bool:
    """Show a text in `$PAGER`, or in less; return False where it fits, or nothing can show it."""
    try:
        size = os.get_terminal_size(1)
        words = shlex.split(os.environ.get("PAGER") or "less")
        lines = sum(1 + len(line) // max(size.columns, 1) for line in text.split("\n"))
        if lines <= size.lines or not words or shutil.which(words[0]) is None:
            return False
        environment = {**_ENVIRONMENT, **os.environ}
        with without_limit():
            pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
        pager.communicate(text.encode("utf-8", "surrogateescape"))  # nobody need read all of it
    except (OSError, ValueError):
        return False
    return True
