"""Calls of Lua functions from operations, which Lua itself has called.

lupa calls a Lua function in the coroutine that it got the function from. That coroutine may be
waiting at that moment: for the operation, or for a finalizer that called it. Calling a function
on top of its stack would destroy what is on the stack. So the functions that operations call are
taken from coroutines that do nothing else.

`describe` names the operation that an engine is busy with, read off the frames of its thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from th_shell.runtime.core.interrupts import is_entry, uninterruptible

# How many calls may be open at a time: during a call a finalizer may run, whose operation makes
# another call, and so on.
_DEPTH = 16

Functions = Mapping[bytes, Callable[..., Any]]


class Calls:
    """Calls Lua functions by their names.

    hand_over: a Lua function that calls its argument with the table of the functions, in a new
    coroutine, which it keeps and uses for nothing else.
    """

    def __init__(self, hand_over: Callable[[Callable[[Any], None]], None]) -> None:
        self._free: list[Functions] = []
        # All are made now: hand_over is a Lua function itself and cannot be called within a call.
        for _ in range(_DEPTH):
            hand_over(lambda functions: self._free.append(dict(functions.items())))

    @uninterruptible
    def __call__(self, name: bytes, *args: Any) -> Any:
        functions = self._free.pop()
        try:
            return functions[name](*args)
        finally:
            self._free.append(functions)


#: What runs where no operation does.
IN_LUA = "a function of Lua or of a C library"
_IN_HOST = "what reads, writes or waits"


def describe(thread: int) -> str:
    """The operation that a thread is in, as ``torch.sort``; else `IN_LUA`.

    thread: its identifier. Any thread may call this.
    """
    frame: FrameType | None = sys._current_frames().get(thread)
    activity = IN_LUA
    while frame is not None:
        if is_entry(frame.f_code):
            name = frame.f_locals.get("name")
            # The outermost one is the one that the program has called.
            activity = f"torch.{name}" if isinstance(name, str) else _IN_HOST
        frame = frame.f_back
    return activity
