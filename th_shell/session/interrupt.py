"""Ctrl-C for code that cannot be stopped: the third one ends the program.

`Engine.interruptible` stops code that runs in the interpreter or in an operation, but not a
compiled loop in a file that the code has loaded. So a thread counts the signals: at the second
one it prints that the code is still running, and at the third one it ends the process.
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
    """End the process at the third Ctrl-C within the context. To be used in the main thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    thread = threading.Thread(target=_count, args=(reader,), daemon=True)
    try:
        thread.start()
    except (MemoryError, RuntimeError):  # the system has no more threads or memory
        os.close(writer)
        os.close(reader)
        yield
        return
    # The C part of Python's signal handling writes to this descriptor, even while no Python code
    # can run in this thread.
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
    while number := os.read(reader, 1):
        if number[0] != signal.SIGINT:
            continue
        presses += 1
        if presses == PRESSES_TO_END - 1:
            os.write(2, _STUCK)
        elif presses == PRESSES_TO_END:
            os._exit(128 + signal.SIGINT)
