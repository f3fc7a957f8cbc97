"""Time limits of a program's blocks: what stops Lua that runs in one of them for too long.

A thread waits for the end of each limit. It stops the call of Lua that runs then, if that was made
within the block: in its context (`contextvars`), which `asyncio.to_thread` passes on. So threads
that share an engine are not stopped by each other's limits. Calls look for limits only while there
are any.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from th_shell.runtime.core.system import Commands
from th_shell.runtime.engine.ctrl_c import AGAIN, PATIENCE
from th_shell.runtime.engine.lua_state import LuaState
from th_shell.runtime.errors import LuaTimeout


class _Limit:
    """A limit of some seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self.text = f"the code took longer than {seconds} s"
        self.end = time.monotonic() + min(seconds, threading.TIMEOUT_MAX)
        self.is_over = threading.Event()  # the block

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0)


#: Of all engines: those of the blocks that the running code is in, and some that are over.
_LIMITS: ContextVar[tuple[_Limit, ...]] = ContextVar("limits", default=())


class TimeLimits:
    """The limits of an engine. open: those whose blocks are not over."""

    def __init__(self, lua: LuaState) -> None:
        self.open: list[_Limit] = []
        self._of_call: list[_Limit] = []  # those of the call that runs
        self._lua = lua

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the time of the block."""
        limit = _Limit(seconds)
        watch = threading.Thread(target=self._watch, args=(limit,), daemon=True, name="timeout")
        with self._lua.ctrl_c.lock:
            self.open.append(limit)
            if self._lua.depth and self._lua.turn._is_owned():  # type: ignore[attr-defined]
                self._of_call = [*self._of_call, limit]
        _LIMITS.set((*_LIMITS.get(), limit))
        try:
            watch.start()
            yield
        finally:
            limit.is_over.set()
            _LIMITS.set(tuple(other for other in _LIMITS.get() if other is not limit))
            with self._lua.ctrl_c.lock:
                self.open.remove(limit)
                self._of_call = [other for other in self._of_call if other is not limit]
            watch.join()

    def take_turn(self) -> None:
        """Take the turn for a call, as soon as the limits allow. Raises LuaTimeout.

        Then, too, the turn was taken if this thread had it already.
        """
        limits = [limit for limit in _LIMITS.get() if limit in self.open]
        has_turn = self._lua.turn.acquire(timeout=min((x.left for x in limits), default=-1))
        ended = [limit for limit in limits if not (limit.left and has_turn)]
        if ended:
            raise LuaTimeout(min(ended, key=lambda limit: limit.end).text)
        self.hold(limits)

    def hold(self, limits: list[_Limit]) -> None:
        """Set which limits hold for the call of Lua that runs; none for one that ends."""
        with self._lua.ctrl_c.lock:
            self._of_call = limits

    def _watch(self, limit: _Limit) -> None:
        pause, patience = limit.left, limit.end + PATIENCE
        while not limit.is_over.wait(pause):
            pause = AGAIN  # it may have been pressed before Lua began
            with self._lua.ctrl_c.lock:
                holds = limit in self._of_call
                if holds:
                    self._lua.ctrl_c.press(LuaTimeout(limit.text))
            if holds and time.monotonic() > patience:
                self._lua.state.part(Commands).kill()
                patience += PATIENCE
