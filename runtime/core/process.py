"""Functions for the whole process: at its end, at a fork, while it loads much; and notes."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_functions: list[Callable[[], object]] = []


def at_the_end(function: Callable[[], object]) -> None:
    """Let a function be called when the program ends; the last one is called first."""
    if function not in _functions:
        atexit.register(function)
        _functions.append(function)


def leave() -> None:
    """Call them all. Python calls them once more, if it ends the program."""
    for function in reversed(_functions):
        function()


class ForkLock:
    """A lock that one thread may take several times. No fork comes while another thread has it.

    A child has none of the threads of its parent: there it is free.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        os.register_at_fork(
            before=lambda: self._lock.acquire(),
            after_in_parent=lambda: self._lock.release(),
            after_in_child=self._renew,
        )

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """Keep Python's collector from looking through what is being made, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def note(line: str) -> None:
    """Print a line to the standard error where TH_DEBUG is set, and not to ''."""
    if os.environ.get("TH_DEBUG"):
        print(f"th: {line}", file=sys.stderr, flush=True)
