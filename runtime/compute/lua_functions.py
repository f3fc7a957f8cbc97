"""The Lua functions of an engine that operations call: loops in Lua, and work for its threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from th_shell.runtime.core.state import current


class LuaFunctions:
    """call: calls one of the functions that lua/shell.lua hands over, by its name.

    The engine sets it.
    """

    def __init__(self) -> None:
        self.call: Callable[..., Any] = _fail


def _fail(name: bytes, *_: Any) -> NoReturn:
    raise RuntimeError(f"no engine runs that has the Lua function {name.decode()}")


def call_lua(name: bytes, *args: Any) -> Any:
    """Call a Lua function of the engine that this thread works for."""
    return current(LuaFunctions).call(name, *args)
