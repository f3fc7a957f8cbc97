"""Ctrl-C, from the signal to the Lua code that it stops."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from runtime.core.interrupts import is_interruptible, uninterruptible

__all__ = ["CtrlC"]


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

    def press(self) -> None:
        """Do what the key does. Any thread may call this."""
        with self._lock:
            if self._armed:
                self._pressed.value = 1

    def poll(self) -> bool:
        """Whether it was. Calling this lets Python handle signals, too."""
        return bool(self._pressed.value)

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


def _set_handler(handler: Any) -> Any:
    """Set what handles Ctrl-C; returns what did."""
    while True:
        try:
            return signal.signal(signal.SIGINT, handler)
        except OSError:  # a signal came just when its handler was replaced
            continue
