"""Ctrl-C and Ctrl-\\ while an input runs, also where the main thread can run no Python.

The C part of Python's signal handling writes to a pipe. A thread reads there: at Ctrl-C it tells
the engine to stop, and says what runs if that takes long; at Ctrl-\\ it asks at the terminal
whether to end th, which loses the session's values.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Protocol

_LOCAL_MODES = 3  # the place of these in what termios returns
_CHARACTERS = 6
_QUEUE = termios.TCIFLUSH


class Question:
    """The terminal while a question is there: keys come at once, and are not signals.

    A context manager: at its end the terminal is as before.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._modes = termios.tcgetattr(terminal)

    @classmethod
    def at_terminal(cls) -> Question | None:
        """At the terminal that controls the process; None where there is none."""
        try:
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            return None
        try:
            return cls(terminal)
        except termios.error:
            os.close(terminal)
            return None

    def __enter__(self) -> Question:
        modes = termios.tcgetattr(self._terminal)
        modes[_LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        modes[_CHARACTERS][termios.VMIN] = 1
        modes[_CHARACTERS][termios.VTIME] = 0
        termios.tcsetattr(self._terminal, termios.TCSANOW, modes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes)
        os.close(self._terminal)

    def ask(self, text: str, end: int) -> bytes:
        """Show a text and wait for a key; nothing if a byte 0 comes from the pipe `end` before."""
        termios.tcflush(self._terminal, _QUEUE)  # keys from before the question are no answer
        os.write(self._terminal, text.encode())
        waiting = [self._terminal, end]
        answer = b""
        while not answer:
            ready, _, _ = select.select(waiting, [], [])
            if end in ready and 0 in (os.read(end, 512) or b"\0"):
                break
            if self._terminal in ready:
                answer = os.read(self._terminal, 1)
                if not answer:
                    break
        os.write(self._terminal, answer + b"\n" if answer.isalnum() else b"\n")
        return answer


# -- Ctrl-C and Ctrl-\

#: How many seconds an input may go on after Ctrl-C until th says what runs.
PATIENCE = 0.5
END = b"\0"  # no signal's number
_STATUS = 128 + signal.SIGQUIT
_QUESTION = "End th and lose its values? [y/N] "


class Stoppable(Protocol):
    """What runs inputs, and can be told to stop; both functions are called in other threads."""

    def interrupt(self) -> None:
        """Stop what runs, as soon as possible."""

    def running(self) -> str:
        """What runs now, in a few words."""


class _Early:
    """Whether Ctrl-C was pressed when an input was read, and could not be stopped yet."""

    def __init__(self) -> None:
        self._pressed = False

    def press(self) -> None:
        """It was pressed."""
        self._pressed = True

    def handle(self, _: int, __: FrameType | None) -> None:
        """Hear the signal."""
        self.press()

    def take(self) -> bool:
        """Whether it was; from then on it was not."""
        pressed, self._pressed = self._pressed, False
        return pressed


#: What an input asks when it begins: it then stops at once.
EARLY = _Early()


@contextmanager
def calm() -> Iterator[None]:
    """Let neither Ctrl-C nor Ctrl-\\ end th within the context: what is watched, or reads, acts.

    To be used in the main thread, at a terminal.
    """
    handlers = {signal.SIGINT: EARLY.handle, signal.SIGQUIT: _nothing}
    before = [(number, signal.signal(number, handler)) for number, handler in handlers.items()]
    # A program that reads a line goes on reading it.
    signal.siginterrupt(signal.SIGQUIT, False)
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _nothing(_: int, __: FrameType | None) -> None:
    pass


class Watch:
    """Stops what an engine runs within the context at Ctrl-C: one context after the other.

    To be used in the main thread. The thread that reads the pipe starts with the first context, and
    ends with the object.
    """

    def __init__(self, engine: Stoppable) -> None:
        self._engine = engine
        self._watcher: _Watcher | None = None
        self._previous = -1

    def __enter__(self) -> None:
        if self._watcher is None:
            self._watcher = _start(self._engine)
            if self._watcher is None:
                return
            weakref.finalize(self, os.close, self._watcher.writer)
        self._watcher.begin()
        self._previous = signal.set_wakeup_fd(self._watcher.writer, warn_on_full_buffer=False)

    def __exit__(self, *_: object) -> None:
        if self._watcher is not None:
            signal.set_wakeup_fd(self._previous)
            self._watcher.end()


def _start(engine: Stoppable) -> _Watcher | None:
    """A watcher with a thread; None where the system has no more threads or memory."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    watcher = _Watcher(engine, reader, writer)
    try:
        threading.Thread(target=watcher.run, daemon=True).start()
    except (MemoryError, RuntimeError):
        os.close(writer)
        os.close(reader)
        return None
    return watcher


class _Watcher:
    """Reads the numbers of signals from a pipe, until the pipe's other end is closed."""

    def __init__(self, engine: Stoppable, reader: int, writer: int) -> None:
        self.writer = writer
        self._engine = engine
        self._reader = reader
        self._running = False
        # Held while signals are acted on, and while a question is at the terminal.
        self._acting = threading.Lock()
        self._deadline: float | None = None  # when to say what runs
        self._said = False

    def begin(self) -> None:
        """An input runs from now on."""
        self._deadline, self._said, self._running = None, False, True

    def end(self) -> None:
        """The input has ended: a question that is still there goes away, and so do its signals."""
        if not self._acting.acquire(blocking=False):
            os.write(self.writer, END)
            self._acting.acquire()
        self._running, self._deadline = False, None
        self._read()
        self._acting.release()

    def run(self) -> None:
        while True:
            if not self._wait():
                self._say_what_runs()
                continue
            with self._acting:
                numbers = self._read()
                if numbers is None:
                    break
                if self._running:
                    self._act(numbers)
        os.close(self._reader)

    def _read(self) -> bytes | None:
        """The numbers that are in the pipe now; None if its other end is closed."""
        try:
            return os.read(self._reader, 512) or None
        except BlockingIOError:
            return b""

    def _act(self, numbers: bytes) -> None:
        if signal.SIGINT in numbers:
            self._stop()
        if signal.SIGQUIT in numbers and _handles_quit() and self._confirmed():
            os._exit(_STATUS)

    def _wait(self) -> bool:
        """Wait for signals; False if it is time to say what runs."""
        deadline = self._deadline
        seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
        return bool(select.select([self._reader], [], [], seconds)[0])

    def _stop(self) -> None:
        self._engine.interrupt()
        if self._deadline is None and not self._said:
            self._deadline = time.monotonic() + PATIENCE

    def _say_what_runs(self) -> None:
        if self._deadline is None:
            return  # the input has ended meanwhile
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
    return signal.getsignal(signal.SIGQUIT) is _nothing
