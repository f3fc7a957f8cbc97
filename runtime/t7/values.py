"""The Python objects for what files hold: tables, objects of classes, and functions.

They compare by identity, as in Lua, so that a table may hold itself; and they keep the order in
which a file lists their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from math import copysign, inf
from typing import Any, ClassVar

from th_shell.runtime.core.dtypes import EXACT
from th_shell.runtime.core.errors import TorchError
from th_shell.torch.tensors.storages import TypedStorage

NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN = range(6)
# 6 is only in old files: it has no number, so that it cannot hold itself. 7, too; its upvalues are
# a list of values. In 8 they have names.
PLAIN_FUNCTION, OLD_FUNCTION, FUNCTION = 6, 7, 8

_MAX_DEPTH, _MAX_SHOWN = 3, 10  # of a text: how deep it goes, and how many entries it shows
_MAX_STRING = 60  # characters that it shows of a string


def plain_number(value: float) -> int | float:
    """Return a number of Lua: an int where it is whole, but for -0, which int does not have."""
    if value.is_integer() and -EXACT <= value <= EXACT and (value or copysign(1, value) > 0):
        return int(value)
    return value


def plain_string(data: bytes) -> str | bytes:
    """Return a string of Lua: a str where it is valid UTF-8, otherwise its bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


class T7Error(TorchError, ValueError):
    """A file is damaged or no file of Torch7, or a value cannot be written to one."""

    __module__ = "th_shell"  # where programs find it


class _ByIdentity:
    """A key that equals no other object: a table, a tensor, or True, which Python takes for 1."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, value: object) -> bool:
        return isinstance(value, _ByIdentity) and value.value is self.value


def _inner(key: Any) -> Any:
    """Return the key under which a table's dict has a key of Lua's."""
    kind = type(key)
    if kind is str or kind is int:
        return key
    if key is None:
        raise T7Error("table index is nil")
    if kind is bytes:
        return plain_string(key)
    if kind is not bool and isinstance(key, (int, float)):
        if key != key:
            raise T7Error("table index is NaN")
        return key
    return _ByIdentity(key)


def _outer(key: Any) -> Any:
    return key.value if type(key) is _ByIdentity else key


class Table(MutableMapping[Any, Any]):
    """A table of Lua: its keys and values, in the order of the file.

    Keys are Lua's: lists count from 1, ``1`` and ``True`` are two keys, ``1`` and ``1.0`` are one,
    and so are a str and its bytes in UTF-8; tables and tensors are keys by their identity. A value
    None removes an entry, as nil does. Raises T7Error for the keys None and nan, as Lua does.
    """

    __slots__ = ("__weakref__", "entries")
    __module__ = "th_shell"

    torch_typename: ClassVar[str] = ""  # of a table that files have as an object of a class

    def __init__(self, entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        self.entries: dict[Any, Any] = {}
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self[key] = value

    @classmethod
    def of(cls, values: Iterable[Any]) -> Table:
        """Return the table of some values, which get the keys 1, 2, …"""
        return cls(enumerate(values, 1))

    def __getitem__(self, key: Any) -> Any:
        try:
            return self.entries[_inner(key)]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        if value is None:
            self.entries.pop(_inner(key), None)
        else:
            self.entries[_inner(key)] = value

    def __delitem__(self, key: Any) -> None:
        try:
            del self.entries[_inner(key)]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        return _inner(key) in self.entries

    def __iter__(self) -> Iterator[Any]:
        return map(_outer, self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __eq__(self, value: object) -> bool:
        return self is value

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return _text(self, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Tell pickle and copy to make keys that are known by identity those of the new table."""
        return type(self), (), None, None, iter(self.items())

    @property
    def is_list(self) -> bool:
        """Tell whether there are entries, whose keys are the numbers from 1 to their count."""
        return bool(self.entries) and all(n in self.entries for n in range(1, len(self) + 1))

    def to_list(self) -> list[Any]:
        """Return the values of the keys 1, 2, … up to the first missing one, as Lua's ipairs."""
        values: list[Any] = []
        while len(values) + 1 in self.entries:
            values.append(self.entries[len(values) + 1])
        return values

    def to_python(self) -> Any:
        """Return a list where `is_list`, otherwise a dict; so are the tables within.

        What occurs several times, or holds itself, does so afterwards. Tables that are keys stay
        as they are. Raises T7Error for a table with the keys 1 and true, which a dict cannot have.
        """
        converted: dict[int, Any] = {}
        waiting: list[Table] = []

        def convert(value: Any) -> Any:
            if not isinstance(value, Table):
                return value
            if id(value) not in converted:
                converted[id(value)] = [] if value.is_list else {}
                waiting.append(value)
            return converted[id(value)]

        result = convert(self)
        while waiting:
            table = waiting.pop()
            into = converted[id(table)]
            if isinstance(into, list):
                into += map(convert, table.to_list())
                continue
            into.update((key, convert(value)) for key, value in table.items())
            if len(into) != len(table):
                raise T7Error("a table has both a number and a boolean that Python takes for it")
        return result


class TdsHash(Table):
    """A tds.Hash of a file: a table, and a dict in `to_python`."""

    __slots__ = ()
    torch_typename = "tds.Hash"
    is_list = False


class TdsVec(Table):
    """A tds.Vec of a file: a table with the keys 1, 2, …, and a list in `to_python`."""

    __slots__ = ()
    torch_typename = "tds.Vec"
    is_list = True


class TorchObject:
    """An object of a class of Torch7 that Python does not know, such as a layer of nn.

    torch_typename: the class. fields: the object's fields, a `Table`. version: that of the class's
    format; 0 in files that are older than versions. Fields are attributes of the object, too, and
    ``object["name"]`` has them whatever their names.
    """

    __slots__ = ("__weakref__", "fields", "torch_typename", "version")
    __module__ = "th_shell"

    torch_typename: str
    fields: Table
    version: float

    def __init__(
        self, torch_typename: str, fields: Mapping[Any, Any] | None = None, version: float = 1
    ) -> None:
        if not isinstance(fields, Table):
            fields = Table(fields or ())
        self.torch_typename, self.fields, self.version = torch_typename, fields, version

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):  # what Python's own protocols ask for are no fields
            try:
                return self.fields[name]
            except KeyError:
                pass
        typename = object.__getattribute__(self, "torch_typename")
        raise AttributeError(f"{typename} has no field {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in TorchObject.__slots__:
            object.__setattr__(self, name, value)
        else:
            self.fields[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.torch_typename!s} has no field {name!r}") from None

    def __getitem__(self, key: Any) -> Any:
        return self.fields[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.fields[key] = value

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __dir__(self) -> list[str]:
        names = [key for key in self.fields if isinstance(key, str) and key.isidentifier()]
        return [*object.__dir__(self), *names]

    def __repr__(self) -> str:
        return _text(self, 0)


#: Classes whose objects have a value before their fields: from which version of their format on,
#: and the value by the fields.
_HEADS: dict[str, tuple[float, Callable[[Table], Any]]] = {
    "nn.GPU": (0, lambda fields: [fields.get("_type"), fields.get("device")]),
    "nn.DataParallelTable": (2, lambda fields: fields.get("gpuAssignments")),
}


def head_of(value: TorchObject) -> Callable[[Table], Any] | None:
    """Return what makes the value that stands before an object's fields in a file, or None."""
    version, head = _HEADS.get(str(value.torch_typename), (inf, None))
    return head if value.version >= version else None


class Function:
    """A function in a file: LuaJIT's bytecode, which is never run, and its upvalues.

    bytecode: the bytes of Lua's string.dump. upvalues: a table, as the file has it. kind: the
    number of its form in files (8 is what Torch7 writes; 6 and 7 are of older ones).
    """

    __slots__ = ("__weakref__", "bytecode", "kind", "upvalues")
    __module__ = "th_shell"

    def __init__(self, bytecode: bytes, upvalues: Any = None, kind: int = 8) -> None:
        self.bytecode = bytecode
        self.upvalues = Table() if upvalues is None else upvalues
        self.kind = kind

    def __repr__(self) -> str:
        return f"<function of {len(self.bytecode)} bytes>"


def _text(value: Any, depth: int) -> str:
    """Return a short text of a value, which may be very large, or hold itself."""
    if isinstance(value, TorchObject):
        return f"{value.torch_typename}({_entries(value.fields, depth, '=')})"
    if isinstance(value, Table):
        return "{" + _entries(value, depth, ": ") + "}"
    shape = getattr(value, "shape", None)
    if shape is not None:  # of a tensor, all of whose elements would be too much
        return f"<{value.dtype} {'x'.join(map(str, shape))}>"
    if isinstance(value, TypedStorage):
        return f"<{value.dtype} storage {value.object.size}>"
    if isinstance(value, (str, bytes)) and len(value) > _MAX_STRING:
        return ascii(value[:_MAX_STRING]) + "..."
    return ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)


def _entries(table: Table, depth: int, between: str) -> str:
    if depth == _MAX_DEPTH and table:
        return "..."
    shown = []
    for (key, value), _ in zip(table.items(), range(_MAX_SHOWN), strict=False):
        is_name = between == "=" and isinstance(key, str) and key.isidentifier()
        name = key if is_name else _text(key, _MAX_DEPTH)
        shown.append(f"{name}{between}{_text(value, depth + 1)}")
    if len(table) > len(shown):
        shown.append("...")
    return ", ".join(shown)


def named_values(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values in a file, but tables, objects of classes and functions.

    What a table or object holds that occurs several times is named once: by the first way there.
    """
    seen: set[int] = set()
    stack = [("", root)]
    while stack:
        name, value = stack.pop()
        inner = inner_entries(value)
        if inner is None:
            yield name or "value", value
        elif id(value) not in seen:
            seen.add(id(value))
            dot = "." if name else ""
            entries = [(f"{name}{dot}{name_of_key(key)}", item) for key, item in inner.items()]
            stack += reversed(entries)


def inner_entries(value: Any) -> Table | None:
    """Return the entries of a table, an object or a function's upvalues; None for another value."""
    if isinstance(value, Table):
        return value
    if isinstance(value, TorchObject):
        return value.fields
    if isinstance(value, Function):
        return value.upvalues if isinstance(value.upvalues, Table) else Table()
    return None


def name_of_key(key: Any) -> str:
    """Return a key as a part of a name; control codes are shown as digits."""
    if isinstance(key, bool):
        return "true" if key else "false"
    text = key if isinstance(key, str) else repr(key)
    return text if text.isprintable() else text.encode("unicode_escape").decode()
