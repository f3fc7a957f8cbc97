"""The Torch7 runtime: an embedded LuaJIT whose ``torch`` is implemented over numpy."""

from runtime.blas_threads import one_thread_at_load

with one_thread_at_load():
    from runtime.engine import Engine, Interrupted, LuaError, LuaSyntaxError

__all__ = ["Engine", "Interrupted", "LuaError", "LuaSyntaxError"]
