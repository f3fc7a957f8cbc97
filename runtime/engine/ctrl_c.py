"""Ctrl-C, from the signal to the Lua code that it stops.

While Lua runs, no Python does, and so no handler of a signal. Lua calls Python now and then, which
then handles signals as it always does: an exception that a handler raises stops Lua. A prompt wants
to hear of a signal at once: for it, a thread reads the pipe to which the C part of Python's signal
handling writes.
"""

from __future__ import annotations

# As signal, but without enumerations, which take most of its time.
import _signal  # type: ignore[import-not-found]
import _thread
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Any

from th_shell.runtime.core.interrupts import is_interruptible, uninterruptible
from th_shell.runtime.core.state import current, settle
from th_shell.runtime.engine.output import Output
from th_shell.runtime.errors import LuaExit

AGAIN = 0.01  # seconds
PATIENCE = 0.1  # seconds: what waits in Python has ended by then
_ATTENTION = 2  # told to engine/shell.lua: not Ctrl-C, but the debugger


class CtrlC:
    """A flag in memory that Lua reads: Ctrl-C was pressed. It stays until Lua clears it.

    Nothing sets it while the prompt itself works: that must not be interrupted.
    """

    def __init__(self) -> None:
        self.pressed = ctypes.c_int32(0)
        self._armed = False
        #: The exception for a Python program whose Lua code Ctrl-C has stopped; None otherwise.
        self.ending: BaseException | None = None
        #: Ends the commands that Lua waits for; at a prompt they hear of Ctrl-C themselves.
        self.end_commands: Callable[[], object] = int
        #: Held while it is pressed; a signal's handler may run where this thread has it.
        self.lock = threading.RLock()

    @property
    def address(self) -> int:
        """Return the address at which Lua reads the flag."""
        return ctypes.addressof(self.pressed)

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Let Ctrl-C count within the block. What was pressed before does not.

        To be used in the main thread.
        """
        before = self._armed
        self.arm(True)
        previous = _set_handler(self._handle)
        try:
            yield
        finally:
            self.arm(before)
            _set_handler(previous)

    def take_over(self) -> bool:
        """Let Ctrl-C end operations only where it may, if Python would end them anywhere.

        Returns whether it would; then `give_back` must be called.
        """
        if (
            threading.get_ident() != threading.main_thread().ident
            or _signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        ):
            return False
        _set_handler(self._handle)
        return True

    def give_back(self) -> None:
        """Leave Ctrl-C to Python again. Raises KeyboardInterrupt for one that is unanswered."""
        if _signal.getsignal(signal.SIGINT) == self._handle:
            _set_handler(signal.default_int_handler)
        if isinstance(self.ending, KeyboardInterrupt):
            raise self.ending

    def press(self, ending: BaseException | None = None) -> None:
        """Do what the key does. Any thread may call this.

        ending: what a Python program gets of it.
        """
        with self.lock:
            if self._armed:
                self.ending = self.ending or ending
                self.pressed.value = 1

    def stop(self, ending: BaseException) -> None:
        """Press, and end the commands that Lua waits for, if it waits. Any thread may call this."""
        self.press(ending)
        _thread.start_new_thread(self._end_commands, ())

    def _end_commands(self) -> None:
        while self.pressed.value:
            time.sleep(PATIENCE)
            if self.pressed.value:
                self.end_commands()

    def leave(self, status: int) -> None:
        """Stop Lua, which has called `os.exit`, by LuaExit."""
        self.press(LuaExit(status))

    def stop_by(self, error: object) -> bool:
        """Stop Lua, where Python has raised an exception there; returns whether it is one."""
        if not isinstance(error, BaseException):
            return False
        self.press(error)
        self.pressed.value = 1  # also in what is not armed: no pcall must go on
        return True

    def attend(self) -> None:
        """Have Lua ask the debugger soon. Any thread may call this."""
        with self.lock:
            if self._armed and not self.pressed.value:
                self.pressed.value = _ATTENTION

    def poll(self) -> bool:
        """Tell whether Ctrl-C was pressed. Calling this lets Python handle signals, too.

        Code that calls this takes long: what it calls is then prepared for Ctrl-C, as finalizers;
        and what it has written is passed on.
        """
        settle()
        current(Output).drain()
        return self.pressed.value not in (0, _ATTENTION)

    def take(self) -> bool:
        """Tell whether Ctrl-C was pressed, and forget it."""
        with self.lock:
            pressed, self.pressed.value = self.poll(), 0
        return pressed

    def arm(self, armed: bool) -> None:
        """Set whether a press counts, from now on; what was pressed before does not."""
        with self.lock:
            self._armed = armed
            self.pressed.value, self.ending = 0, None

    @uninterruptible  # by the next Ctrl-C
    def _handle(self, _: int, frame: FrameType | None) -> None:
        # Runs between two steps of Python code: of an operation, which then stops, or of `poll`,
        # which Lua calls now and then.
        self.press(KeyboardInterrupt())
        if is_interruptible(frame):
            raise KeyboardInterrupt


def _set_handler(handler: Any) -> Any:
    """Set what handles Ctrl-C; returns what did."""
    while True:
        try:
            return _signal.signal(signal.SIGINT, handler)
        except OSError:  # a signal came just when its handler was replaced
            continue


def hear_in_finalizers() -> None:
    """Raise a KeyboardInterrupt again that was raised in a finalizer, which nothing gets out of."""
    tell = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        is_main = threading.get_ident() == threading.main_thread().ident
        if is_main and unraisable.exc_type is KeyboardInterrupt:
            _thread.start_new_thread(_press_again, ())
        else:
            tell(unraisable)

    sys.unraisablehook = hook


def _press_again() -> None:
    time.sleep(AGAIN)  # at once, it would be raised in the hook, and be lost, too
    _thread.interrupt_main()


#: A function that gets the bytes of signals' numbers, in the watcher's thread.
Listener = Callable[[bytes], object]


class SignalWatcher:
    """Reads the numbers of signals from a pipe, in a thread that ends with the process.

    reader: the end of the pipe that it reads. A listener that waits there, for an answer of the
    user's, must stop when it reads `END`.
    """

    END = b"\0"  # no signal's number

    def __init__(self) -> None:
        """Raises RuntimeError or MemoryError where the system has no more threads."""
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)
        self._listeners: list[Listener] = []
        self._others: list[int] = []  # what others have set to hear of signals
        self._acting = threading.Lock()  # held while signals are read and told
        threading.Thread(target=self._run, daemon=True, name="Ctrl-C").start()

    def begin(self, listener: Listener) -> None:
        """Tell a listener of all signals from now on. To be used in the main thread."""
        self._listeners.append(listener)
        former = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._others.append(former)

    def end(self) -> None:
        """End what began last. What is not read yet must not stop what begins next."""
        signal.set_wakeup_fd(self._others[-1])
        if not self._acting.acquire(blocking=False):
            os.write(self._writer, self.END)
            self._acting.acquire()
        self._act()
        del self._listeners[-1], self._others[-1]
        self._acting.release()

    def _run(self) -> None:
        while True:
            select.select([self.reader], [], [])
            with self._acting:
                self._act()

    def _act(self) -> None:
        try:
            numbers = os.read(self.reader, 512)
        except BlockingIOError:
            return
        for listener in self._listeners:
            listener(numbers)
        if self._others and self._others[0] >= 0:
            with suppress(OSError):
                os.write(self._others[0], numbers)


@cache
def signal_watcher() -> SignalWatcher:
    """Return the process's watcher; the first call makes it, and raises what that raises."""
    return SignalWatcher()


os.register_at_fork(after_in_child=signal_watcher.cache_clear)  # a fork has no thread of it
