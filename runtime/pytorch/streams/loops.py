"""The loops of LuaJIT that make numbers one after the other (``lua/streams/draws.lua``).

    loops.uniform_floats(words.address(n), address_of(out), n, 0.0, 1.0)

They get the addresses of contiguous arrays. Their Lua state is made at the first use, by which a
program that needs no random numbers saves a millisecond; threads take turns in it.
"""

from __future__ import annotations

import os
from typing import Any


class _Loops:
    """The loops, by name."""

    def __init__(self) -> None:
        self._left: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        from runtime.compute.luajit import draw_functions

        self.__dict__.update({n.decode(): loop for n, loop in draw_functions().items()})
        return self.__dict__[name]

    def begin_after_fork(self) -> None:
        """Leave the Lua state: a thread that is gone may have been at work in it."""
        left = [*self._left, dict(self.__dict__)]
        self.__dict__.clear()
        self._left = left


loops = _Loops()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=loops.begin_after_fork)
