"""An engine as the door for Python programs: run Lua, call its functions, share its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runtime.core.texts import to_bytes
from runtime.engine.ctrl_c import CtrlC
from runtime.engine.evaluation import Chunk
from runtime.engine.lua_state import LuaState
from runtime.errors import check
from runtime.host.late import load_numpy

if TYPE_CHECKING:
    from runtime.engine.proxies import LuaTable
    from runtime.engine.values import Values


class PythonDoor:
    """What `Engine` offers to Python programs; how values cross is told in ``help(runtime)``."""

    _lua: LuaState
    _ctrl_c: CtrlC
    _values: Values | None = None

    def _crossing(self) -> Values:
        if self._values is None:
            load_numpy()
            from runtime.engine.values import Values  # late: it needs numpy

            self._values = Values(self._lua, self._ctrl_c)
        return self._values

    def run(self, source: str | bytes | Chunk, *args: Any, name: str = "lua") -> None:
        """Run Lua code: a text, or what `compile` has made of one. Its results are dropped.

        args: what the code gets as ``...``; of compiled code they are bytes. name: that of the text
        in errors, as ``lua:1:``. Raises LuaError, for a text that does not compile, too.
        """
        if isinstance(source, (str, bytes)):
            self._crossing().ask(b"run", _text(source), b"=" + to_bytes(name), given=args)
        else:
            check(self._lua.call(b"run", source, *args))

    def eval(self, source: str | bytes, name: str = "lua") -> Any:
        """The value of a Lua expression, or what a chunk returns; of several a tuple.

        Raises LuaError.
        """
        return self._crossing().value(b"eval", _text(source), b"=" + to_bytes(name))

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

    def __iter__(self) -> Iterator[Any]:
        """The names of Lua's globals."""
        return iter(self.globals)


def _text(source: str | bytes) -> bytes:
    return to_bytes(source) if isinstance(source, str) else source
