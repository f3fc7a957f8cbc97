"""An engine as the door for Python programs: run Lua, call its functions, share its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.core.texts import to_bytes
from runtime.ctrl_c import CtrlC
from runtime.errors import check
from runtime.evaluation import Chunk
from runtime.host.late import load_numpy
from runtime.lua_state import LuaState

if TYPE_CHECKING:
    from runtime.proxies import LuaTable
    from runtime.values import Values

__all__ = ["PythonDoor"]


class PythonDoor:
    """What `Engine` offers to Python programs.

    Values cross so:

    =====================  =======================================================================
    Lua                    Python
    =====================  =======================================================================
    nil, booleans          None, bool
    numbers                int where they are whole, otherwise float
    strings                str where they are UTF-8, otherwise bytes
    tensors                tensors of `runtime.pytorch`, over the same memory
    tables, functions,     `LuaTable`, `LuaFunction`, `LuaObject`, which stand for them: nothing is
    other objects          copied
    =====================  =======================================================================

    To Lua go the same, besides: arrays of numpy and tensors of PyTorch (as tensors over the same
    memory), numpy's numbers, dicts, lists and tuples (copied as tables; lists count from 1), the
    objects of `load`, and functions, which Lua may call: a tuple that one returns is several values
    in Lua, and its exception an error, which pcall sees as ``ValueError: text``.

    Errors: LuaError, with Lua's message and traceback; where a Python function has raised what Lua
    did not catch, that exception is its ``__cause__``. TypeError and ValueError for what Lua cannot
    have. Ctrl-C is a KeyboardInterrupt in the main thread.
    """

    _lua: LuaState
    _ctrl_c: CtrlC
    _values: Values | None = None

    def _crossing(self) -> Values:
        if self._values is None:
            load_numpy()
            from runtime.values import Values  # late: it needs numpy

            self._values = Values(self._lua, self._ctrl_c)
        return self._values

    def run(self, source: str | Chunk, *args: Any, name: str = "lua") -> None:
        """Run Lua code: a text, or what `compile` has made of one. Its results are dropped.

        args: what the code gets as ``...``; of compiled code they are bytes. name: that of the text
        in errors, as ``lua:1:``. Raises LuaError, for a text that does not compile, too.
        """
        if isinstance(source, str):
            words = to_bytes(source), b"=" + to_bytes(name)
            self._crossing().ask(b"run", *words, given=args)
        else:
            check(self._lua.call(b"run", source, *args))

    def eval(self, source: str, name: str = "lua") -> Any:
        """The value of a Lua expression, or what a chunk returns; of several a tuple.

        Raises LuaError.
        """
        return self._crossing().value(b"eval", to_bytes(source), b"=" + to_bytes(name))

    @property
    def globals(self) -> LuaTable:
        """The table of Lua's globals."""
        found: LuaTable = self._crossing().value(b"globals")
        return found

    def __getitem__(self, name: str) -> Any:
        """The value of a global of Lua; None where there is none."""
        return self.globals[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a global of Lua; None removes it."""
        self.globals[name] = value

    def __delitem__(self, name: str) -> None:
        """Remove a global of Lua."""
        self.globals[name] = None

    def __contains__(self, name: str) -> bool:
        """Whether there is a global of Lua of this name."""
        return self.globals[name] is not None
