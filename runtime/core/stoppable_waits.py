"""Waiting that ends where an engine's code is told to stop: by a timeout, say, in another thread.

Python waits a moment at a time, and looks. What Lua's C functions wait for are commands, which
`Commands` ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from th_shell.runtime.core.state import current

_MOMENT = 0.05  # seconds
_STOP = 1


class Stopping:
    """A number in memory that the engine's code reads: 1 tells it to stop."""

    def __init__(self) -> None:
        self.told = ctypes.c_int32(0)


def wait_until(is_over: Callable[[float], object]) -> None:
    """Wait until a function says that this is over, which waits for so many seconds at most.

    Raises KeyboardInterrupt where the code is to stop.
    """
    signal = current(Stopping).told
    while not is_over(_MOMENT):
        if signal.value == _STOP:
            raise KeyboardInterrupt


def sleep(seconds: float) -> None:
    """Wait for some seconds, as `wait_until` does."""
    end = time.monotonic() + seconds

    def is_over(most: float) -> bool:
        time.sleep(max(0.0, min(most, end - time.monotonic())))
        return not time.monotonic() < end

    wait_until(is_over)


class Commands:
    """The commands that an engine's code has started, as far as the system tells (on Linux)."""

    def __init__(self) -> None:
        self._started: set[int] = set()
        self._thread = 0
        self._before: set[int] | None = None  # a command; what the thread had started then

    def begin(self) -> None:
        """Note that this thread starts a command in C, which may wait for its end."""
        self._thread = threading.get_native_id()
        self._before = _children_of_thread("self", self._thread)

    def end(self) -> None:
        """Note that the call is over: what goes on is a pipe's."""
        if self._before is not None:
            self.add(*(_children_of_thread("self", self._thread) - self._before))
            self._before = None

    def add(self, *processes: int) -> None:
        """Note that commands were started."""
        self._started = (self._started & _children("self")) | set(processes)

    def kill(self) -> None:
        """End the command that the code waits for: that of a call, or what pipes lead to."""
        before, started = self._before, self._started
        if before is not None:
            started = _children_of_thread("self", self._thread) - before
        for process in started & _children("self"):
            _kill(process)


def _kill(process: int) -> None:
    """End a process and those that it has started."""
    with suppress(OSError):
        os.kill(process, signal.SIGSTOP)  # it must start no others meanwhile
        children = _children(process)
        os.kill(process, signal.SIGKILL)
        for child in children:
            _kill(child)


def _children(process: int | str) -> set[int]:
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return set()
    return set().union(*(_children_of_thread(process, thread) for thread in threads))


def _children_of_thread(process: int | str, thread: int | str) -> set[int]:
    try:
        with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()
