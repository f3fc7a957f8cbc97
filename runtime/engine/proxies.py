"""Lua's tables, functions and other objects as Python programs have them.

All have what Lua gives to any object by its metatable: ``o[key]``, ``len(o)``, calls. Python keeps
the object alive, and nothing of it is copied. Two are equal if they are one object of Lua's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

from runtime.core.texts import to_bytes, to_text
from runtime.engine.fields import Fields
from runtime.t7.values import Table, TorchObject

_SLICE = 200  # entries that are fetched at a time


class Crossing(Protocol):
    """What an object asks its engine for: see `Values`."""

    def ask(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> Any:
        """Call a function of lua/values.lua; returns its results as they are.

        given: values of Python's behind the other arguments.
        """

    def value(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> Any:
        """Call a function of lua/values.lua; returns its value, or a tuple of several."""

    def values(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> list[Any]:
        """Call a function of lua/values.lua; returns the values of its results."""

    def drop(self, number: int) -> None:
        """Let Lua forget a value, soon."""


class LuaObject(Fields):
    """An object of Lua's: a userdata, coroutine or C data, and what tables and functions share.

    kind: its type in Lua. torch_typename: its class, None where it has none.

    ``o[key]`` is None where there is nothing; ``o.name`` is told at `Fields`. Raises LuaError where
    Lua does.
    """

    __slots__ = ("__weakref__", "_crossing", "_number", "_serial", "kind", "torch_typename")

    def __init__(self, crossing: Crossing, number: int, mark: bytes) -> None:
        kind, serial, name = mark.split(b" ", 2)
        self._crossing = crossing
        self._number = number
        self._serial = int(serial)
        self.kind = kind.decode()
        self.torch_typename = name.decode("utf-8", "surrogateescape") or None

    def __del__(self) -> None:
        self._crossing.drop(self._number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LuaObject):
            return NotImplemented
        return self._crossing is other._crossing and self._serial == other._serial

    def __hash__(self) -> int:
        return hash((id(self._crossing), self._serial))

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._crossing.value(b"get", self._number, given=(key,))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._crossing.ask(b"set", self._number, given=(key, value))

    def __delitem__(self, key: Any) -> None:
        self[key] = None

    def __contains__(self, key: Any) -> bool:
        return self[key] is not None

    def __len__(self) -> int:
        """What Lua's # gives: of a table the number of its elements from 1 on."""
        (count,) = self._crossing.ask(b"length", self._number)
        return int(count)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"a {self.kind} of Lua cannot be iterated over")

    def __call__(self, *args: Any) -> Any:
        """Call it. Of several results a tuple is returned, of none None. Raises LuaError."""
        return self._crossing.value(b"call", self._number, given=args)

    def call(self, name: str, *args: Any) -> Any:
        """Call a method, as ``o:name(...)`` in Lua. Raises LuaError."""
        return self._crossing.value(b"call_method", self._number, to_bytes(name), given=args)

    def __str__(self) -> str:
        (text,) = self._crossing.ask(b"text", self._number)
        return to_text(text)


class LuaFunction(LuaObject):
    """A function of Lua: ``f(1, tensor)``."""

    __slots__ = ()


class LuaTable(LuaObject):
    """A table of Lua, whose keys are Lua's: lists count from 1.

    Iteration goes through the keys, as in a dict, in the order of Lua's pairs. `items` and the like
    are copies of what the table has when they are called.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries()[::2])

    def keys(self) -> list[Any]:
        """The keys."""
        return self._entries()[::2]

    def values(self) -> list[Any]:
        """The values."""
        return self._entries()[1::2]

    def items(self) -> list[tuple[Any, Any]]:
        """Keys and values."""
        found = self._entries()
        return list(zip(found[::2], found[1::2], strict=True))

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or default where there is none."""
        found = self[key]
        return default if found is None else found

    def update(self, entries: Any) -> None:
        """Set fields from a dict, or from pairs of keys and values."""
        for key, value in dict(entries).items():
            self[key] = value

    def _entries(self) -> list[Any]:
        number, count = self._crossing.ask(b"entries", self._number)
        try:
            found: list[Any] = []
            for start in range(1, int(count) + 1, _SLICE):
                stop = min(start + _SLICE - 1, int(count))
                found += self._crossing.values(b"slice", number, start, stop)
            return found
        finally:
            self._crossing.drop(number)

    def to_python(self) -> Any:
        """A copy in Python: a list of a table with the keys 1, 2, …, n, otherwise a dict.

        So are the tables within; what occurs several times, or holds itself, does so in the copy.
        Objects of torch classes become `TorchObject`, whose tables are a `Table`. Tensors are not
        copied: they have the same memory. Functions, and tables that are keys, stay Lua's.
        """
        copied = self._copied()
        return copied.to_python() if isinstance(copied, Table) else copied

    def _copied(self) -> Table | TorchObject:
        made: dict[LuaTable, Table | TorchObject] = {}
        waiting: list[LuaTable] = []

        def copy(value: Any) -> Any:
            if not isinstance(value, LuaTable):
                return value
            if value not in made:
                name = value.torch_typename
                made[value] = TorchObject(name) if name else Table()
                waiting.append(value)
            return made[value]

        result: Table | TorchObject = copy(self)
        while waiting:
            source = waiting.pop()
            target = made[source]
            into = target if isinstance(target, Table) else target.fields
            for key, value in LuaTable.items(source):
                into[key] = copy(value)
        return result


class LuaInstance(LuaTable):
    """An object of a torch class: what it has by a name comes before what a dict has, as `get`."""

    __slots__ = ()


def _before(name: str) -> property:
    ours = getattr(LuaTable, name)

    def find(self: LuaInstance) -> Any:
        try:
            return self.__getattr__(name)
        except AttributeError:
            return partial(ours, self)

    return property(find)


for _name in ("get", "items", "keys", "update", "values"):
    setattr(LuaInstance, _name, _before(_name))


def made_for(crossing: Crossing, number: int, mark: bytes) -> LuaObject:
    """The object that stands for one of Lua's; mark: as lua/values.lua makes it."""
    if mark.startswith(b"table"):
        kind = LuaTable if mark.endswith(b" ") else LuaInstance
        return kind(crossing, number, mark)
    if mark.startswith(b"function"):
        return LuaFunction(crossing, number, mark)
    return LuaObject(crossing, number, mark)
