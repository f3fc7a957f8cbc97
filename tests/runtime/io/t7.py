"""Files as the real Torch7 writes them, byte for byte, from a writer that knows only the format.

An object is None, a bool, a number, a string, or one of the classes here, which a file holds once
and then names by its number. Tables list their fields in the order that Torch7 wrote them in.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Elements in a binary file, in the notation of struct; those of Long are as other longs.
_ELEMENTS = {"Double": "d", "Float": "f", "Half": "e", "Int": "i", "Short": "h"}
_ELEMENTS |= {"Byte": "B", "Char": "b"}


@dataclass(frozen=True, eq=False)
class Storage:
    """Elements of a type, all of them whole numbers."""

    type: str
    values: Sequence[int]


@dataclass(frozen=True, eq=False)
class Tensor:
    """A view of a storage, or of nothing; offset: 1-based."""

    type: str
    sizes: Sequence[int] = ()
    strides: Sequence[int] = ()
    storage: Storage | None = None
    offset: int = 1


@dataclass(frozen=True, eq=False)
class Table:
    """Keys and values."""

    fields: Sequence[tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Object:
    """An object of a class of Lua, and what its method `write` writes: objects and doubles."""

    name: str
    content: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Function:
    """A function: LuaJIT's bytecode, and its upvalues."""

    bytecode: bytes
    upvalues: Table


class _Binary:
    """Numbers in binary; long: how an integer of type long is packed."""

    def __init__(self, long: str) -> None:
        self._long = long

    def int(self, value: int) -> bytes:
        return struct.pack("<i", value)

    def longs(self, values: Sequence[int]) -> bytes:
        return struct.pack(f"<{len(values)}{self._long}", *values)

    def double(self, value: float) -> bytes:
        return struct.pack("<d", value)

    def string(self, value: bytes) -> bytes:
        return self.int(len(value)) + value

    def elements(self, storage: Storage) -> bytes:
        if storage.type == "Long":
            return self.longs(storage.values)
        return struct.pack(f"<{len(storage.values)}{_ELEMENTS[storage.type]}", *storage.values)


class _Text:
    """Numbers as text: those of one list in a line, separated by blanks."""

    def int(self, value: int) -> bytes:
        return b"%d\n" % value

    def longs(self, values: Sequence[int]) -> bytes:
        return b" ".join(b"%d" % value for value in values) + b"\n" if values else b""

    def double(self, value: float) -> bytes:
        return b"%.17g\n" % value

    def string(self, value: bytes) -> bytes:
        return self.int(len(value)) + value + b"\n"

    def elements(self, storage: Storage) -> bytes:
        if storage.type in ("Byte", "Char"):  # as they are
            return bytes(storage.values) + b"\n"
        return self.longs(storage.values)


#: How numbers are written; b32: as programs do whose type long has 32 bits.
MODES = {"binary": _Binary("q"), "b32": _Binary("i"), "ascii": _Text()}


def written(value: Any, mode: str) -> bytes:
    """The file that torch.save writes."""
    return _Writer(MODES[mode]).value(value)


class _Writer:
    """Writes one file."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers
        self._written: dict[Any, int] = {}

    def value(self, value: Any) -> bytes:
        n = self._numbers
        if value is None:
            return n.int(0)
        if isinstance(value, bool):
            return n.int(5) + n.int(value)
        if isinstance(value, int | float):
            return n.int(1) + n.double(value)
        if isinstance(value, bytes):
            return n.int(2) + n.string(value)
        return self._reference(value)

    def _reference(self, value: Any) -> bytes:
        kind = {Table: 3, Function: 8}.get(type(value), 4)
        known = value in self._written
        number = self._written.setdefault(value, len(self._written) + 1)
        start = self._numbers.int(kind) + self._numbers.int(number)
        return start if known else start + getattr(self, f"_{type(value).__name__.lower()}")(value)

    def _table(self, table: Table) -> bytes:
        fields = b"".join(self.value(key) + self.value(value) for key, value in table.fields)
        return self._numbers.int(len(table.fields)) + fields

    def _class(self, name: str) -> bytes:
        return self._numbers.string(b"V 1") + self._numbers.string(name.encode())

    def _object(self, value: Object) -> bytes:
        content = b"".join(
            self._numbers.double(part) if isinstance(part, float) else self.value(part)
            for part in value.content
        )
        return self._class(value.name) + content

    def _tensor(self, tensor: Tensor) -> bytes:
        n = self._numbers
        shape = n.int(len(tensor.sizes)) + n.longs(tensor.sizes) + n.longs(tensor.strides)
        head = self._class(f"torch.{tensor.type}Tensor") + shape + n.longs([tensor.offset])
        return head + self.value(tensor.storage)

    def _storage(self, storage: Storage) -> bytes:
        n = self._numbers
        size = n.longs([len(storage.values)])
        return self._class(f"torch.{storage.type}Storage") + size + n.elements(storage)

    def _function(self, value: Function) -> bytes:
        return self._numbers.string(value.bytecode) + self.value(value.upvalues)
