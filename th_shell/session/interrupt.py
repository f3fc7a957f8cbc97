"""Ctrl-C and Ctrl-\\ while an input runs, also where the main thread can run no Python.

The runtime's watcher of signals calls in another thread. At Ctrl-C the engine is told to stop, and
what runs is said if that takes long. Ctrl-\\ ends th, which loses the session's values.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

from th_shell.runtime.shell import SignalWatcher, signal_watcher

#: How many seconds an input may go on after Ctrl-C until th says what runs.
PATIENCE = 0.5
_STATUS = 128 + signal.SIGQUIT


class Stoppable(Protocol):
    """A runner of inputs that can be told to stop; both functions are called in other threads."""

    def interrupt(self) -> None:
        """Stop what runs, as soon as possible."""

    def running(self) -> str:
        """Return the name of what runs now, in a few words."""


class _Early:
    """A Ctrl-C that was pressed when an input was read, and could not be stopped yet."""

    def __init__(self) -> None:
        self._pressed = False

    def press(self, *_: object) -> None:
        """Note that it was pressed; this is also the handler of the signal."""
        self._pressed = True

    def take(self) -> bool:
        """Tell whether it was pressed; from then on it was not."""
        pressed, self._pressed = self._pressed, False
        return pressed


#: The Ctrl-C before an input, which asks for it when it begins, and then stops at once.
EARLY = _Early()


@contextmanager
def calm() -> Iterator[None]:
    """Let neither Ctrl-C nor Ctrl-\\ end th within the context: what is watched, or reads, acts.

    To be used in the main thread, at a terminal.
    """
    with handled(signal.SIGINT, EARLY.press), handled(signal.SIGQUIT, nothing):
        # A program that reads a line goes on reading it.
        signal.siginterrupt(signal.SIGQUIT, False)
        yield


@contextmanager
def handled(number: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let a function handle a signal within the context."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def nothing(*_: object) -> None:
    """Handle a signal that is to do nothing here; programs that are started do not inherit this."""


class Watch:
    """Stops what an engine runs within the context at Ctrl-C: one context after the other.

    To be used in the main thread.
    """

    def __init__(self, engine: Stoppable) -> None:
        self._engine = engine
        self._watcher: SignalWatcher | None = None
        self._saying: threading.Timer | None = None

    def __enter__(self) -> None:
        self._saying = None
        with suppress(MemoryError, RuntimeError):  # no thread: nothing is heard
            self._watcher = signal_watcher()
            self._watcher.begin(self._hear)

    def __exit__(self, *_: object) -> None:
        """Hear nothing more."""
        if self._watcher is not None:
            self._watcher.end()
        if self._saying is not None:
            self._saying.cancel()

    def settle(self) -> None:
        """Say nothing of what was interrupted: it has ended, though the context has not."""
        if self._saying is not None:
            self._saying.cancel()
            self._saying = None

    def _hear(self, numbers: bytes) -> None:
        if signal.SIGINT in numbers:
            self._engine.interrupt()
            if self._saying is None:
                self._saying = threading.Timer(PATIENCE, self._say_what_runs)
                self._saying.daemon = True
                with suppress(MemoryError, RuntimeError):  # no thread: it is not said
                    self._saying.start()
        if signal.SIGQUIT in numbers and _handles_quit():
            os._exit(_STATUS)

    def _say_what_runs(self) -> None:
        give_up = "; Ctrl-\\ to give up on it and end th" if _handles_quit() else ""
        text = f"still running: {self._engine.running()}; returns to the prompt when it is done"
        with suppress(OSError):
            os.write(2, f"\n{text}{give_up}\n".encode())


def _handles_quit() -> bool:
    return signal.getsignal(signal.SIGQUIT) is nothing
