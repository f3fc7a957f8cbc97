"""Calls of Lua functions from operations, which Lua itself has called.

lupa calls a Lua function in the coroutine that it got the function from. That coroutine may be
waiting at that moment: for the operation, or for a finalizer that called it. Calling a function
on top of its stack would destroy what is on the stack. So the functions that operations call are
taken from coroutines that do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from th_shell.runtime.core.interrupts import uninterruptible

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
