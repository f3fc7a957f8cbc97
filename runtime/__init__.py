"""The Torch7 runtime: an embedded LuaJIT whose ``torch`` is implemented over numpy."""

from runtime.engine import Engine, Interrupted, LuaError, LuaSyntaxError

__all__ = ["Engine", "Interrupted", "LuaError", "LuaSyntaxError"]
