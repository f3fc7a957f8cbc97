"""The Lua functions of an engine that operations call: loops in Lua, and work for its threads."""

from __future__ import annotations

from typing import Any, NoReturn

from runtime.core.state import Part, current

__all__ = ["LuaFunctions", "call_lua"]


class LuaFunctions(Part):
    """Calls Lua functions by their names. The engine puts its own `call` in."""

    @staticmethod
    def call(name: bytes, *_: Any) -> Any:
        """Call a function of lua/tensor/kernels.lua, or 'run' of lua/parallel/thread_pool.lua."""
        _fail(name)

    def close(self) -> None:
        """Call none any more."""
        self.call = _fail  # type: ignore[method-assign]


def _fail(name: bytes, *_: Any) -> NoReturn:
    raise RuntimeError(f"no engine runs that has the Lua function {name.decode()}")


def call_lua(name: bytes, *args: Any) -> Any:
    """Call a Lua function of the engine that this thread works for."""
    return current(LuaFunctions).call(name, *args)
