"""The fields of Lua's objects as attributes in Python: ``model.weight``, ``model.forward(x)``."""

from __future__ import annotations

from types import MethodType
from typing import Any, NoReturn

from th_shell.runtime.errors import LuaError
from th_shell.runtime.t7.values import Table

_OWN = frozenset(("_crossing", "_number", "_serial", "kind", "torch_typename"))
_SHOWN = 10  # entries of a table that its text shows, besides that there are more


class Fields:
    """Fields are attributes, and methods are bound as Python's are: those that an object has by its
    class (in Lua, by its metatable) get it as their first argument, functions among its own fields
    do not. ``o["name"]`` has fields whatever their names.
    """

    __slots__ = ()

    _crossing: Any
    _number: int
    kind: str
    torch_typename: str | None

    def __getattr__(self, name: str) -> Any:
        if name in _OWN or name.startswith("__"):  # what Python's own protocols ask for
            raise AttributeError(name)
        try:
            value, is_method = self._crossing.field(self._number, name)
        except LuaError as error:
            raise AttributeError(error.message) from error
        if value is None:
            raise AttributeError(f"{self._name()} has no field {name!r}")
        return MethodType(value, self) if is_method else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name.startswith("__"):
            object.__setattr__(self, name, value)
        else:
            self._crossing.ask(b"set", self._number, values=(name, value))

    def __delattr__(self, name: str) -> None:
        setattr(self, name, None)

    def __dir__(self) -> list[str]:
        names = self._crossing.value(b"names", self._number).split("\n")
        return [*object.__dir__(self), *filter(str.isidentifier, names)]

    def __reduce_ex__(self, _: Any) -> NoReturn:
        copies = ": to_python() copies it" if self.kind == "table" else ""
        raise TypeError(f"{self._name()} stays in its engine{copies}")

    def _name(self) -> str:
        return f"Lua {self.kind}{f' {self.torch_typename}' if self.torch_typename else ''}"

    def __repr__(self) -> str:
        """The kind of object, and of a table what it holds; neither runs code of the program's."""
        if self.kind != "table":
            return f"<{self._name()}>"
        try:
            shown = self._crossing.values(b"first", self._number, 2 * _SHOWN + 2)
        except LuaError:  # the engine is closed
            return f"<{self._name()}>"
        pairs = zip(map(_brief, shown[::2]), map(_brief, shown[1::2]), strict=True)
        entries = Table(pairs)
        return f"<{self._name()} {entries}>" if entries else f"<{self._name()}>"


class _Brief:
    """Stands for one of Lua's objects in a text, without what it holds."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}>"


def _brief(value: Any) -> Any:
    return _Brief(value._name()) if isinstance(value, Fields) else value
