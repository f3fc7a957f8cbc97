"""Lua's tables, functions and other objects as Python programs have them.

All have what Lua gives to any object by its metatable: ``o[key]``, ``len(o)``, calls. Python keeps
the object alive, and nothing of it is copied. Two are equal if they are one object of Lua's.

Fields are attributes, too: ``model.weight``, ``model.forward(x)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn

from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.errors import LuaError
from th_shell.runtime.t7.values import T7Error, Table, TorchObject, plain_string

if TYPE_CHECKING:
    from th_shell.runtime.engine.values import Values

_SLICE, _PLAIN_SLICE = 400, 4000  # values that are fetched at a time


_OWN = frozenset(("_crossing", "_number", "_serial", "kind", "torch_typename"))
_SHOWN = 10  # entries of a table that its text shows, besides that there are more


class _Brief:
    """Stands for one of Lua's objects in a text, without what it holds."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}>"


def _brief(value: Any) -> Any:
    return _Brief(value._name()) if isinstance(value, LuaObject) else value


class LuaObject:
    """An object of Lua's: a userdata or C data, and what tables and functions share.

    kind: its type in Lua. torch_typename: its class, None where it has none.

    ``o[key]`` is None where there is nothing. Fields are attributes, too, and methods are bound as
    Python's are: those that an object has by its class (in Lua, by its metatable) get it as their
    first argument, functions among its own fields do not. ``o["name"]`` has fields whatever their
    names. Raises LuaError where Lua does.
    """

    __module__ = "th_shell"
    __slots__ = ("__weakref__", "_crossing", "_number", "_serial", "kind", "torch_typename")

    def __init__(self, crossing: Values, number: int, mark: bytes) -> None:
        kind, serial, name = mark.split(b" ", 2)
        self._crossing = crossing
        self._number = number
        crossing.drop_after(self, number)
        self._serial = int(serial)
        self.kind = kind.decode()
        self.torch_typename = name.decode("utf-8", "surrogateescape") or None

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
        """Return the kind of object, and what a table holds; this runs no code of the program's."""
        if self.kind != "table":
            return f"<{self._name()}>"
        try:
            shown = self._crossing.values(b"first", self._number, 2 * _SHOWN + 2)
        except LuaError:  # the engine is closed
            return f"<{self._name()}>"
        pairs = zip(map(_brief, shown[::2]), map(_brief, shown[1::2]), strict=True)
        entries = Table(pairs)
        return f"<{self._name()} {entries}>" if entries else f"<{self._name()}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LuaObject):
            return NotImplemented
        return self._crossing is other._crossing and self._serial == other._serial

    def __hash__(self) -> int:
        return hash((id(self._crossing), self._serial))

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._crossing.get(self._number, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._crossing.set(self._number, key, value)

    def __delitem__(self, key: Any) -> None:
        self[key] = None

    def __contains__(self, key: Any) -> bool:
        return self[key] is not None

    def __len__(self) -> int:
        """Return what Lua's # gives: of a table the number of its elements from 1 on."""
        if self.kind in ("function", "thread"):  # `list` asks for it, and takes a TypeError
            raise TypeError(f"a {self.kind} of Lua has no length")
        return int(self._crossing.ask(b"length", self._number))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"a {self.kind} of Lua cannot be iterated over")

    def __call__(self, *args: Any) -> Any:
        """Call it. Of several results a tuple is returned, of none None. Raises LuaError."""
        return self._crossing.call(self._number, args)

    def call(self, name: str, *args: Any) -> Any:
        """Call a method, as ``o:name(...)`` in Lua. Raises LuaError."""
        return self._crossing.value(b"call_method", self._number, to_bytes(name), values=args)

    def __str__(self) -> str:
        return to_text(self._crossing.ask(b"text", self._number))


class LuaFunction(LuaObject):
    """A function of Lua: ``f(1, tensor)``; and an iterator of Lua, ``for x in f``."""

    __module__ = "th_shell"
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        """Call it as Lua's ``for x in f`` does, until its first value is nil."""
        control = None
        while True:
            value = self(None, control)
            control = value[0] if isinstance(value, tuple) else value
            if control is None:
                return
            yield value


class LuaCoroutine(LuaObject):
    """A coroutine of Lua, which is to Python as a generator: iteration has what it yields.

    Several values are a tuple. What its function returns is the value of the StopIteration.
    """

    __module__ = "th_shell"
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.send()

    def send(self, *values: Any) -> Any:
        """Resume it, where its yield returns these values; return what it yields next.

        Raises StopIteration where it ends or has ended, and LuaError.
        """
        found = self._crossing.value(b"resume", self._number, values=values)
        goes_on, *results = found if isinstance(found, tuple) else (found,)
        value = results[0] if len(results) == 1 else tuple(results) or None
        if goes_on:
            return value
        raise StopIteration(value)


class LuaTable(LuaObject):
    """A table of Lua, whose keys are Lua's: lists count from 1.

    Iteration goes through the keys, as in a dict, in the order of Lua's pairs. `items` and the like
    are copies of what the table has when they are called.
    """

    __module__ = "th_shell"
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(LuaTable.keys(self))

    def keys(self) -> list[Any]:
        """Return the keys."""
        values, entries = self._contents()
        return [*range(1, len(values) + 1), *(key for key, _ in entries)]

    def values(self) -> list[Any]:
        """Return the values."""
        values, entries = self._contents()
        return [*values, *(value for _, value in entries)]

    def items(self) -> list[tuple[Any, Any]]:
        """Return the pairs of keys and values."""
        values, entries = self._contents()
        return [*enumerate(values, 1), *entries]

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or the default where there is none."""
        value = self[key]
        return default if value is None else value

    def update(self, entries: Any) -> None:
        """Set fields from a dict, or from pairs of keys and values."""
        for key, value in dict(entries).items():
            self[key] = value

    def _contents(self) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Return the values of the keys 1, 2, …, and the other keys with their values."""
        ask = self._crossing.ask
        _, hash_part, count, first, plain = ask(b"entries", self._number)
        values: list[Any] = []
        try:
            for start in range(1, plain + 1, _PLAIN_SLICE):
                stop = min(start + _PLAIN_SLICE - 1, plain)
                part = ask(b"plain_slice", self._number, start, stop)[1:]
                if bytes in set(map(type, part)):
                    part = [plain_string(x) if type(x) is bytes else x for x in part]
                values += part
            fetched = [
                value
                for number, begin, end in ((self._number, plain + 1, first), (hash_part, 1, count))
                for start in range(begin, end + 1, _SLICE)
                for value in self._crossing.values(
                    b"slice", number, start, min(start + _SLICE - 1, end)
                )
            ]
        finally:
            self._crossing.drop(hash_part)
        values += fetched[: first - plain]
        entries = fetched[first - plain :]
        return values, list(zip(entries[::2], entries[1::2], strict=True))

    def to_python(self) -> Any:
        """Return a copy in Python: a list of a table with the keys 1, 2, …, n, otherwise a dict.

        So are the tables within; what occurs several times, or holds itself, does so in the copy.
        Objects of torch classes become `TorchObject`, whose tables are a `Table`. Tensors are not
        copied: they have the same memory. Functions, and tables that are keys, stay Lua's.
        """
        copies: dict[tuple[LuaTable, bool], Any] = {}
        waiting: list[tuple[Any, list[Any], list[tuple[Any, Any]], bool]] = []

        def copy(value: Any, within: bool) -> Any:
            """Copy a value. within: whether an object of a class holds it."""
            if not isinstance(value, LuaTable):
                return value
            if (value, within) not in copies:
                values, entries_of_hash = value._contents()
                name = value.torch_typename
                into: Any = [] if values and not entries_of_hash else {}
                if name or within:
                    into = TorchObject(name) if name else Table()
                copies[value, within] = into
                waiting.append((into, values, entries_of_hash, within or bool(name)))
            return copies[value, within]

        result = copy(self, False)
        while waiting:
            into, values, entries_of_hash, within = waiting.pop()
            if any(issubclass(kind, LuaTable) for kind in set(map(type, values))):
                values = [copy(value, within) for value in values]
            if isinstance(into, list):
                into += values
                continue
            entries = [
                *enumerate(values, 1),
                *((key, copy(v, within)) for key, v in entries_of_hash),
            ]
            fields = into.fields if isinstance(into, TorchObject) else into
            fields.update(entries)
            if len(fields) != len(entries):
                raise T7Error("a table has both a number and a boolean that Python takes for it")
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


def made_for(crossing: Values, number: int, mark: bytes) -> LuaObject:
    """Return the object that stands for one of Lua's; mark: as engine/values.lua makes it."""
    if mark.startswith(b"table"):
        kind = LuaTable if mark.endswith(b" ") else LuaInstance
        return kind(crossing, number, mark)
    if mark.startswith(b"function"):
        return LuaFunction(crossing, number, mark)
    if mark.startswith(b"thread"):
        return LuaCoroutine(crossing, number, mark)
    return LuaObject(crossing, number, mark)
