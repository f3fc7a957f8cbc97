"""Calls of Lua functions by operations, which Lua itself has called.

An operation runs wherever Lua calls it: in a coroutine, or in a finalizer that the collector runs
while something else waits. Lua functions must not be called in a thread (of Lua's) that waits so:
what lies on its stack would be lost. Here they are called in threads of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runtime.core.interrupts import uninterruptible

__all__ = ["Calls"]

_DEPTH = 16  # of calls within calls: a finalizer within a call may need another one, and so on

Functions = Mapping[bytes, Callable[..., Any]]


class Calls:
    """Calls Lua functions by their names.

    hand_over: calls a function with the table of all of them, in a new thread, which is not
    used for anything else and stays.
    """

    def __init__(self, hand_over: Callable[[Callable[[Any], None]], None]) -> None:
        self._free: list[Functions] = []
        for _ in range(_DEPTH):  # not when they are needed: hand_over is a Lua function, too
            hand_over(lambda functions: self._free.append(dict(functions.items())))

    @uninterruptible
    def __call__(self, name: bytes, *args: Any) -> Any:
        functions = self._free.pop()
        try:
            return functions[name](*args)
        finally:
            self._free.append(functions)
