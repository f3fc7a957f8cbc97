"""Ctrl-C and Ctrl-\\ while an input runs, also where the main thread can run no Python.

The C part of Python's signal handling writes to a pipe. A thread reads there: at Ctrl-C it tells
the engine to stop, and says what runs if that takes long; at Ctrl-\\ it asks at the terminal
whether to end th, which loses the session's values.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from runtime import Engine
from th_shell.session.question import Question

__all__ = ["calm", "watched"]

#: How many seconds an input may go on after Ctrl-C until th says what runs.
PATIENCE = 0.5
_STATUS = 128 + signal.SIGQUIT
_QUESTION = "End th and lose its values? [y/N] "


@contextmanager
def calm() -> Iterator[None]:
    """Let neither Ctrl-C nor Ctrl-\\ end th within the context: what is watched, or reads, acts.

    To be used in the main thread, at a terminal.
    """
    before = [(number, signal.signal(number, _nothing)) for number in (signal.SIGINT, _quit())]
    # A program that reads a line goes on reading it.
    signal.siginterrupt(_quit(), False)
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _quit() -> signal.Signals:
    return signal.SIGQUIT


def _nothing(_: int, __: FrameType | None) -> None:
    pass


@contextmanager
def watched(engine: Engine) -> Iterator[None]:
    """Stop at Ctrl-C what the engine runs in the context. To be used in the main thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    watcher = _Watcher(engine, reader)
    thread = threading.Thread(target=watcher.run, daemon=True)
    try:
        thread.start()
    except (MemoryError, RuntimeError):  # the system has no more threads or memory
        os.close(writer)
        os.close(reader)
        yield
        return
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        os.close(writer)
        thread.join()
        os.close(reader)


class _Watcher:
    """Reads the numbers of signals from a pipe, until the pipe's other end is closed."""

    def __init__(self, engine: Engine, reader: int) -> None:
        self._engine = engine
        self._reader = reader
        self._deadline: float | None = None  # when to say what runs
        self._said = False

    def run(self) -> None:
        while True:
            if not self._wait():
                self._say_what_runs()
                continue
            numbers = os.read(self._reader, 512)
            if not numbers:
                return
            if signal.SIGINT in numbers:
                self._stop()
            if _quit() in numbers and _handles_quit() and self._confirmed():
                os._exit(_STATUS)

    def _wait(self) -> bool:
        """Wait for signals; False if it is time to say what runs."""
        seconds = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        return bool(select.select([self._reader], [], [], seconds)[0])

    def _stop(self) -> None:
        self._engine.interrupt()
        if self._deadline is None and not self._said:
            self._deadline = time.monotonic() + PATIENCE

    def _say_what_runs(self) -> None:
        self._deadline, self._said = None, True
        give_up = "; Ctrl-\\ to give up on it" if _handles_quit() else ""
        text = f"still running: {self._engine.running()}; returns to the prompt when it is done"
        with suppress(OSError):
            os.write(2, f"\n{text}{give_up}\n".encode())

    def _confirmed(self) -> bool:
        """Ask whether to end th; no is the answer if the input ends meanwhile."""
        question = Question.at_terminal()
        if question is None:
            return False
        with question:
            return question.ask(f"\n{_QUESTION}", self._reader) in (b"y", b"Y")


def _handles_quit() -> bool:
    return signal.getsignal(_quit()) is _nothing
