"""Captures the standard output and error of the process, and passes on what arrives there.

Lua writes through C's buffers, commands that it starts write to the same descriptors: so the
descriptors themselves are replaced by pipes. A thread reads them while a cell runs; `drain` is the
point at which all that was written before has been passed on.
"""

import ctypes
import json
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby

from th_shell.captured import NAMES, CapturedStream

_LONGEST_LINE = 10000  # characters; nobody draws a bar in a longer line
_MOVES = re.compile(r"([\r\b])")


# -- backspaces in output: front ends delete at them, where a terminal only moves its cursor
#
# Progress bars write a line, move back and write over a part of it. A line with backspaces is
# therefore sent whole, as a terminal would show it, behind a carriage return.


class Line:
    """The last line of a stream, which has no end yet."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._text = ""
        self._cursor = 0
        self._is_rewritten = False

    def rewrite(self, text: str) -> str:
        """Return the text to send to a front end for a text that follows in the stream."""
        if "\b" in text or self._is_rewritten:
            *ended, last = text.split("\n")
            return "\n".join([*map(self._end, ended), self._write(last)])
        whole, newline, last = text.rpartition("\n")
        if newline:
            self._end("")
        return whole + newline + self._write(last)

    def _end(self, text: str) -> str:
        sent = self._write(text)
        self._begin()
        return sent

    def _write(self, text: str) -> str:
        if len(self._text) > _LONGEST_LINE:
            return text
        for part in _MOVES.split(text):
            if part == "\r":
                self._cursor = 0
            elif part == "\b":
                self._cursor = max(0, self._cursor - 1)
            else:
                end = self._cursor + len(part)
                self._text = self._text[: self._cursor] + part + self._text[end:]
                self._cursor = end
        self._is_rewritten = self._is_rewritten or "\b" in text
        return "\r" + self._text if self._is_rewritten else text


# -- the descriptors of the process

#: Is given the name of a stream ('stdout', 'stderr') and text that was written to it.
Publish = Callable[[str, str], None]

_INTERVAL, _LONGEST = 0.05, 3.0  # seconds for which output is gathered before it is passed on
_DRAWN = 1e6  # bytes that a browser shows in a second: it draws a cell's output anew each time
_FLUSHED = 0.1  # seconds after which a line without an end is passed on, such as a progress bar

# What a program prints faster than this waits in the pipe, and then the program does. Jupyter's
# server leaves out what comes after more than 3e6 bytes in 3 seconds.
_RATE = 400_000  # bytes of messages in a second
_BURST = 500_000  # bytes that may come at once


class Streams:
    """Replaces the descriptors 1 and 2 of the process, for as long as it runs."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._has_begun = threading.Event()  # whether a cell has, while the reader waits
        self._lines: dict[str, Line] = {}
        self._begin()
        self._lock = threading.RLock()
        self._pending: list[tuple[str, str]] = []
        self._since = 0.0  # when the first of them has arrived
        self._collected: list[str] | None = None
        self._busy = threading.Event()
        self._flush_c = _c_flush()
        self._streams = [CapturedStream(descriptor) for descriptor in NAMES]
        for run in (self._read_on, self._flush_on):
            threading.Thread(target=run, daemon=True).start()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Pass on what is written within the block while it is written, and all at its end."""
        self._begin()
        self._busy.set()
        try:
            yield
        finally:
            self._busy.clear()
            self.drain()

    def _begin(self) -> None:
        self._written = 0  # bytes of messages for what the cell has written
        self._credit = float(_BURST)  # bytes of messages that may be passed on at once
        self._has_begun.set()
        self._lines = {name: Line() for name in NAMES.values()}

    def drain(self) -> None:
        """Pass on all that was written so far."""
        self._flush()
        with self._lock:
            self._read(final=True)
            self._pass_on()

    def collect(self) -> None:
        """Keep what is written to the standard output from now on; see `collected`."""
        self.drain()
        self._collected = []

    def collected(self) -> str:
        """Return what was written since `collect`, which ends here; '' where it was not called."""
        self._flush()
        with self._lock:
            self._read(final=True)
            parts, self._collected = self._collected or [], None
            self._pass_on()
        return "".join(parts)

    def _flush(self) -> None:
        sys.stdout.flush()
        self._flush_c()

    def _flush_on(self) -> None:
        # In a thread of its own: it waits where the program is writing to a full pipe.
        while self._busy.wait():
            time.sleep(_FLUSHED)
            self._flush_c()

    def _read_on(self) -> None:
        poller = select.poll()
        for stream in self._streams:
            poller.register(stream.pipe, select.POLLIN)
        while True:
            start = time.monotonic()
            poller.poll(_INTERVAL * 1000 if self._pending else None)
            with self._lock:
                count = self._read(final=False)
                self._credit -= count
                self._written += count
                patience = min(max(_INTERVAL, self._written / _DRAWN), _LONGEST)
                if start - self._since > patience:
                    self._pass_on()
            # At least as long as it takes to write more than a line.
            self._has_begun.wait(max(0.001, -self._credit / _RATE))
            self._has_begun.clear()
            earned = (time.monotonic() - start) * _RATE
            self._credit = min(self._credit + earned, _BURST)

    def _read(self, final: bool) -> int:
        """Read what has arrived; return its length in messages, in bytes."""
        count = 0
        for stream in self._streams:
            text = stream.read(final)
            if not text:
                continue
            count += len(json.dumps(text, ensure_ascii=False).encode())
            if stream.name == "stdout" and self._collected is not None:
                self._collected.append(text)
                continue
            if not self._pending:
                self._since = time.monotonic()
            self._pending.append((stream.name, text))
        return count

    def _pass_on(self) -> None:
        pending, self._pending = self._pending, []
        for name, parts in groupby(pending, key=lambda part: part[0]):
            text = "".join(text for _, text in parts)
            self._publish(name, self._lines[name].rewrite(text))


def _c_flush() -> Callable[[], object]:
    """Return a function that flushes C's standard output, and lets it keep no more than a line."""
    library = ctypes.CDLL(None)
    for name in ("stdout", "__stdoutp"):  # macOS has the second
        try:
            stream = ctypes.c_void_p.in_dll(library, name)
        except ValueError:
            continue
        library.setvbuf(stream, None, ctypes.c_int(_LINES), ctypes.c_size_t(0))
        return lambda: library.fflush(stream)
    raise ImportError("the C library has no standard output")


_LINES = 1  # C's _IOLBF: the buffer is written at the end of a line
