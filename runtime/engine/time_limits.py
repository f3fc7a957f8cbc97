"""Time limits of a program's blocks: what stops Lua that runs in one of them for too long.

A thread waits for the end of each limit. It stops the call of Lua that runs then, if the limit
holds for it: those of the thread that has made the call or, where that has set none, all there are.
So threads that share an engine have limits of their own, and those that work for another one, as
asyncio's, have that one's. Calls look for limits only while there are any.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from th_shell.runtime.core.system import Commands
from th_shell.runtime.engine.lua_state import LuaState
from th_shell.runtime.errors import LuaTimeout

_AGAIN = 0.01  # seconds
_PATIENCE = 0.1  # seconds: what waits in Python has ended by then


class _Limit:
    """A limit of some seconds from now on, which the calling thread sets."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end = time.monotonic() + min(seconds, threading.TIMEOUT_MAX)
        self.thread = threading.get_ident()
        self.is_over = threading.Event()  # the block

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0)

    def error(self) -> LuaTimeout:
        return LuaTimeout(f"the code took longer than {self.seconds} s")


class TimeLimits:
    """The limits of an engine. open: those whose blocks are not over."""

    def __init__(self, lua: LuaState) -> None:
        self.open: list[_Limit] = []
        self._of_call: tuple[_Limit, ...] = ()  # of the last call that began while there were any
        self._lua = lua

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the time of the block."""
        limit = _Limit(seconds)
        watch = threading.Thread(target=self._watch, args=(limit,), daemon=True, name="timeout")
        with self._lua.ctrl_c.lock:
            self.open.append(limit)
            if self._lua.depth and self._lua.turn._is_owned():  # type: ignore[attr-defined]
                self._of_call += (limit,)
        try:
            watch.start()
            yield
        finally:
            limit.is_over.set()
            with self._lua.ctrl_c.lock:
                self.open.remove(limit)
                self._of_call = tuple(other for other in self._of_call if other is not limit)
            watch.join()

    def take_turn(self) -> None:
        """Take the turn for a call, as soon as the limits allow. Raises LuaTimeout.

        Then, too, the turn was taken if this thread had it already.
        """
        opened = tuple(self.open)
        limits = tuple(x for x in opened if x.thread == threading.get_ident()) or opened
        first = min(limits, key=lambda limit: limit.end, default=None)
        has_turn = self._lua.turn.acquire(timeout=first.left if first else -1)
        if first and not (has_turn and first.left):
            raise first.error()
        with self._lua.ctrl_c.lock:
            self._of_call = limits

    def _watch(self, limit: _Limit) -> None:
        pause, patience = limit.left, limit.end + _PATIENCE
        while not limit.is_over.wait(pause):
            pause = _AGAIN  # it may have been pressed before Lua began
            with self._lua.ctrl_c.lock:
                holds = self._lua.depth > 0 and limit in self._of_call
                if holds:
                    self._lua.ctrl_c.press(limit.error())
            if holds and time.monotonic() > patience:
                self._lua.state.part(Commands).kill()
                patience += _PATIENCE
