"""A line on the terminal that tells how far a long run has come. It is gone when the run ends."""

from __future__ import annotations

import os
import shutil
import threading
import time

from th_shell.docs.judging.verdicts import PageResult
from th_shell.files import write_all
from th_shell.visible import visible

_FIRST = 1.0  # seconds: a run that takes no longer shows nothing
_EVERY = 0.25  # seconds between two states of the line
_ERASE = b"\r\x1b[K"


class Progress:
    """The line, on a file descriptor; only if that is a terminal which can erase a line."""

    def __init__(self, total: int, descriptor: int = 2) -> None:
        """total: how many pages there are."""
        self.total = total
        self._descriptor = descriptor
        self._begun = time.monotonic()
        self._running: dict[str, None] = {}
        self._done = self._examples = self._failed = 0
        self._is_shown = False
        self._lock = threading.RLock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if os.isatty(self._descriptor) and os.environ.get("TERM") not in (None, "dumb"):
            self._thread = threading.Thread(target=self._refresh, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread:
            self._thread.join()
        self.erase()

    def begin(self, page: str) -> None:
        """Say that a page begins to run."""
        with self._lock:
            self._running[page] = None

    def finish(self, page: PageResult) -> None:
        """Say that a page has been judged."""
        with self._lock:
            self._running.pop(str(page.page), None)
            self._done += 1
            self._examples += len(page.results)
            self._failed += len(page.failures)

    def erase(self) -> None:
        """Take the line away, before something else is written."""
        with self._lock:
            if self._is_shown:
                self._write(_ERASE)
            self._is_shown = False

    def line(self, width: int) -> str:
        """Return the text of the line, cut to a width."""
        with self._lock:
            seconds = time.monotonic() - self._begun
            name = next(iter(self._running), "")
            text = f"{self._done}/{self.total} pages, {self._examples} examples, "
            text += f"{self._failed} failed, {seconds:.0f} s  {visible(name)}"
        return text.rstrip()[: max(0, width - 1)]

    def _refresh(self) -> None:
        pause = _FIRST
        while not self._end.wait(pause):
            pause = _EVERY
            width = shutil.get_terminal_size().columns
            with self._lock:
                self._write(_ERASE + self.line(width).encode("utf-8", "replace"))
                self._is_shown = True

    def _write(self, data: bytes) -> None:
        try:
            write_all(self._descriptor, data)
        except OSError:
            self._end.set()  # the terminal is gone
