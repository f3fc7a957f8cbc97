"""Ctrl-C, from the signal to the Lua code that it stops.

While Lua runs, no Python does, and so no handler of a signal. A front end may have ways of its own
to hear of it; for other programs a thread reads the pipe to which the C part of Python's signal
handling writes.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from runtime.core.interrupts import is_interruptible, uninterruptible


class CtrlC:
    """Whether Ctrl-C was pressed, in memory that Lua reads; it is there until Lua clears it.

    Nothing sets it while the prompt itself works: that must not be interrupted.
    """

    def __init__(self) -> None:
        self._pressed = ctypes.c_int32(0)
        self._armed = False
        self._lock = threading.RLock()  # a signal's handler may run where this thread has it

    @property
    def address(self) -> int:
        """Where Lua reads it."""
        return ctypes.addressof(self._pressed)

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Let Ctrl-C count within the block. What was pressed before does not.

        To be used in the main thread.
        """
        self._arm(True)
        previous = _set_handler(self._handle)
        try:
            yield
        finally:
            self._arm(False)
            _set_handler(previous)

    def watched(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function, for a program that does nothing else about Ctrl-C while Lua runs.

        To be used in the main thread. Raises KeyboardInterrupt where Ctrl-C was pressed, and Lua
        has ended before it heard of it.
        """
        watcher = _watcher()
        self._arm(True)
        previous = _set_handler(self._handle)
        other = watcher.begin(self)
        try:
            result = function(*args)
        finally:
            signal.set_wakeup_fd(other)
            watcher.end()
            was_pressed = self.poll()
            self._arm(False)
            _set_handler(previous)
        if was_pressed:
            raise KeyboardInterrupt
        return result

    def press(self) -> None:
        """Do what the key does. Any thread may call this."""
        with self._lock:
            if self._armed:
                self._pressed.value = 1

    def poll(self) -> bool:
        """Whether it was. Calling this lets Python handle signals, too."""
        return bool(self._pressed.value)

    def take(self) -> bool:
        """Whether it was; from then on it was not."""
        with self._lock:
            pressed, self._pressed.value = self.poll(), 0
        return pressed

    def _arm(self, armed: bool) -> None:
        with self._lock:
            self._armed = armed
            self._pressed.value = 0

    @uninterruptible  # by the next Ctrl-C
    def _handle(self, _: int, frame: FrameType | None) -> None:
        # Runs between two steps of Python code: of an operation, which then stops, or of `poll`,
        # which Lua calls now and then.
        self.press()
        if is_interruptible(frame):
            raise KeyboardInterrupt


# Without the enumerations that signal's own functions make of numbers, which take most of the time.
_signal = getattr(signal.signal, "__wrapped__", signal.signal)
_getsignal = getattr(signal.getsignal, "__wrapped__", signal.getsignal)


def is_left_to_python() -> bool:
    """Whether Ctrl-C is a KeyboardInterrupt in this thread: the main one, of most programs."""
    return (
        threading.get_ident() == threading.main_thread().ident
        and _getsignal(signal.SIGINT) is signal.default_int_handler
    )


def _set_handler(handler: Any) -> Any:
    """Set what handles Ctrl-C; returns what did."""
    while True:
        try:
            return _signal(signal.SIGINT, handler)
        except OSError:  # a signal came just when its handler was replaced
            continue


class _Watcher:
    """Reads the numbers of signals from a pipe, in a thread that ends with the process."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._ctrl_c: CtrlC | None = None
        self._other = -1  # what others have set to hear of signals
        self._acting = threading.Lock()  # held while signals are read and told
        threading.Thread(target=self._run, daemon=True, name="Ctrl-C").start()

    def begin(self, ctrl_c: CtrlC) -> int:
        """Press Ctrl-C from now on; returns what has heard of signals until now."""
        self._ctrl_c = ctrl_c
        self._other = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self._other

    def end(self) -> None:
        """End that. What is not read yet must not stop what begins next."""
        with self._acting:
            self._act()
            self._ctrl_c = None

    def _run(self) -> None:
        while True:
            select.select([self._reader], [], [])
            with self._acting:
                self._act()

    def _act(self) -> None:
        try:
            numbers = os.read(self._reader, 512)
        except BlockingIOError:
            return
        if self._ctrl_c is not None and signal.SIGINT in numbers:
            self._ctrl_c.press()
        if self._other >= 0:
            with suppress(OSError):
                os.write(self._other, numbers)


_only: _Watcher | None = None


def _watcher() -> _Watcher:
    """The process's watcher."""
    global _only
    if _only is None:
        _only = _Watcher()
    return _only


def _forget_watcher() -> None:
    global _only
    _only = None  # a fork has no thread of it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_watcher)
