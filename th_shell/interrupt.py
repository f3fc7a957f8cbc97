"""Ctrl-C while code runs, the last resort: what to do where the code cannot be stopped.

`Engine.interruptible` stops what runs in the interpreter or in an operation. A compiled loop
in a file that the code loaded hears nothing of it. A thread that counts the signals then says
so, and ends the program when Ctrl-C comes once more.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["last_resort"]

PRESSES_TO_END = 3
_STUCK = b"\nStill running: stops at its next step. Ctrl-C once more ends th.\n"


@contextmanager
def last_resort() -> Iterator[None]:
    """End the process at the third Ctrl-C inside. To be used in the main thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    thread = threading.Thread(target=_count, args=(reader,), daemon=True)
    try:
        thread.start()
    except (MemoryError, RuntimeError):  # the system has no more
        os.close(writer)
        os.close(reader)
        yield
        return
    # Python's C handler writes here, even where no Python code gets to run in this thread.
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        os.close(writer)
        thread.join()
        os.close(reader)


def _count(reader: int) -> None:
    presses = 0
    while got := os.read(reader, 1):
        if got[0] != signal.SIGINT:
            continue
        presses += 1
        if presses == PRESSES_TO_END - 1:
            os.write(2, _STUCK)
        elif presses == PRESSES_TO_END:
            os._exit(128 + signal.SIGINT)
