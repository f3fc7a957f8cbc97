"""Reads objects from files: the kinds of objects, and which objects are one.

An object is an int for its kind, and then its contents. Tables, objects of classes and functions
have a number in the file; where one occurs again, only its number is there. What is incomplete is
on a stack of our own: the depth of a file is not limited by that of Python's stack.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from th_shell.runtime.core.c_structs import MAX_DIMENSIONS
from th_shell.runtime.core.dtypes import DTYPES, DType
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import check_dimensions, fits_storage
from th_shell.runtime.t7.binary import BinarySource
from th_shell.runtime.t7.tensors import storage_of, storage_over, tensor_over
from th_shell.runtime.t7.text import TextSource
from th_shell.runtime.t7.values import (
    BOOLEAN,
    FUNCTION,
    NIL,
    NUMBER,
    OLD_FUNCTION,
    PLAIN_FUNCTION,
    STRING,
    TABLE,
    TORCH,
    Function,
    T7Error,
    Table,
    TdsHash,
    TdsVec,
    TorchObject,
    head_of,
    plain_number,
    plain_string,
)

_MISFIT = "corrupt file: a tensor that does not fit its storage"

Source = BinarySource | TextSource

#: Reads the contents of an object of a class: what its method `read` does in Lua.
Reader = Callable[["ObjectReader"], Any]

_TENSORS = {dtype.tensor_name: dtype for dtype in DTYPES}
_STORAGES = {dtype.storage_name: dtype for dtype in DTYPES}
_TDS = {"tds.Hash": TdsHash, "tds_hash": TdsHash, "tds.Vec": TdsVec}
# Tensors of a GPU have the same form. They are read into the memory of the processor.
for _dtype in DTYPES:
    _name = "" if _dtype.name == "Float" else _dtype.name
    _TENSORS[f"torch.Cuda{_name}Tensor"] = _dtype
    _STORAGES[f"torch.Cuda{_name}Storage"] = _dtype


class _Entries:
    """A table whose entries are being read."""

    def __init__(self, owner: Table, left: int, source: Source) -> None:
        self.owner = owner
        self._left = left
        self._key: Any = None
        self._source = source

    def read_plain(self) -> bool:
        """Read entries as long as they are numbers and strings; returns whether all are read."""
        done, self._key = self._source.read_plain_entries(self.owner.entries, self._left)
        self._left -= done
        return not self._left

    def take(self, value: Any) -> bool:
        """Add what was read; returns whether the object is complete."""
        if self._key is None:
            if value is None:
                raise T7Error("table index is nil")
            if isinstance(value, float) and value != value:
                raise T7Error("table index is NaN")
            self._key = value
            return False
        self.owner[self._key] = value
        self._key = None
        self._left -= 1
        return not self._left or self.read_plain()


class _Elements(_Entries):
    """A tds.Vec whose elements are being read."""

    def read_plain(self) -> bool:
        return not self._left

    def take(self, value: Any) -> bool:
        if value is None:
            raise T7Error("a tds.Vec with places that have no value cannot be read here")
        self.owner[len(self.owner) + 1] = value
        self._left -= 1
        return not self._left


class _Contents:
    """A function, or an object of a class, whose upvalues or fields are being read."""

    def __init__(self, owner: Function | TorchObject, has_head: bool = False) -> None:
        self.owner = owner
        self._has_head = has_head

    def take(self, value: Any) -> bool:
        """Set what was read; the object is complete then, but for what stands before its fields."""
        if self._has_head:
            self._has_head = False
            return False
        is_table = isinstance(value, Table)
        if isinstance(self.owner, Function):
            if not is_table:
                raise T7Error("corrupt file: a function without upvalues")
            self.owner.upvalues = value
            return True
        if not is_table:
            raise T7Error(
                f"Cannot load object class <{self.owner.torch_typename!s}>: it has no fields, but "
                "a format of its own, for which load takes a function (readers)"
            )
        self.owner.fields = value
        return True


_Incomplete = _Entries | _Contents


class ObjectReader:
    """Reads a file's objects. A function of ``readers`` gets it, too, for an object's contents.

    readers: for names of classes, the functions that read their objects. What such a function
    returns stands for the object.
    """

    def __init__(self, source: Source, readers: Mapping[str, Reader]) -> None:
        self._source = source
        self._readers = readers
        self._objects: dict[int, Any] = {}  # by their numbers
        self.read_int = source.read_int
        self.read_long = source.read_long
        self.read_double = source.read_double

    def read_string(self) -> str | bytes:
        """Return an int with the length, and the bytes: a str where they are UTF-8."""
        return plain_string(self._source.read_string())

    def read_object(self) -> Any:
        """Return the next object, and all that it holds."""
        stack: list[_Incomplete] = []
        while True:
            value, incomplete = self._open()
            if incomplete is not None:
                stack.append(incomplete)
                continue
            while True:  # add it to what holds it, which may be complete then
                if not stack:
                    return value
                if not stack[-1].take(value):
                    break
                value = stack.pop().owner

    def _open(self) -> tuple[Any, _Incomplete | None]:
        """Read an object, or its head; the second result then takes what follows."""
        source = self._source
        kind = source.read_int()
        if kind == NUMBER:
            return plain_number(source.read_double()), None
        if kind == STRING:
            return plain_string(source.read_string()), None
        if kind == BOOLEAN:
            return source.read_int() == 1, None
        if kind == NIL:
            return None, None
        if kind == PLAIN_FUNCTION:
            return self._open_function(kind, None)
        if kind not in (TABLE, TORCH, OLD_FUNCTION, FUNCTION):
            raise T7Error("unknown object")
        number = source.read_int()
        if number in self._objects:
            return self._objects[number], None
        if kind == TABLE:
            return self._open_table(number)
        if kind == TORCH:
            return self._open_torch(number)
        return self._open_function(kind, number)

    def _open_table(self, number: int) -> tuple[Any, _Incomplete | None]:
        table = self._objects[number] = Table()
        entries = _Entries(table, max(self._source.read_int(), 0), self._source)
        return table, None if entries.read_plain() else entries

    def _open_function(self, kind: int, number: int | None) -> tuple[Any, _Incomplete]:
        function = Function(self._source.read_string(), None, kind)
        if number is not None:
            self._objects[number] = function
        return function, _Contents(function)

    def _open_torch(self, number: int) -> tuple[Any, _Incomplete | None]:
        name, version = self._class()
        dtype = _TENSORS.get(name)
        if dtype is not None:
            value = self._objects[number] = self._tensor(dtype)
            return value, None
        dtype = _STORAGES.get(name)
        if dtype is not None:
            self._storage(dtype, number)
            return self._objects[number], None
        reader = self._readers.get(name)
        if reader is not None:
            value = self._objects[number] = self._read_by(reader, name)
            return value, None
        if name in _TDS:
            return self._open_tds(_TDS[name], number)
        value = self._objects[number] = TorchObject(name, None, version)
        if name == "tds.AtomicCounter":
            _Contents(value).take(None)  # it has no fields
        return value, _Contents(value, head_of(value) is not None)

    def _open_tds(self, kind: type[Table], number: int) -> tuple[Any, _Incomplete | None]:
        table = self._objects[number] = kind()
        reader = _Elements if kind is TdsVec else _Entries
        entries = reader(table, max(self._source.read_long(), 0), self._source)
        return table, None if entries.read_plain() else entries

    def _class(self) -> tuple[str, float]:
        """Return the name of an object's class, and the version of its format."""
        name = self._source.read_string()
        version = _version(name)
        # Files that are older than versions have only the name.
        return _class_name(name if version is None else self._source.read_string()), version or 0

    def _read_by(self, reader: Reader, name: str) -> Any:
        try:
            return reader(self)
        except RecursionError:
            raise T7Error(f"objects of class <{name}> are nested too deeply") from None

    def _storage(self, dtype: DType, number: int) -> Storage:
        storage = self._source.read_elements(dtype, self._source.read_long())
        self._objects[number] = storage_over(storage)
        return storage

    def _storage_of_tensor(self, dtype: DType) -> Storage | None:
        """Return the storage that a tensor of a type views, or None for another object."""
        kind = self._source.read_int()
        if kind == NIL:
            return None
        if kind != TORCH:
            raise T7Error(_MISFIT)
        number = self._source.read_int()
        if number in self._objects:
            storage = storage_of(self._objects[number])
        else:
            name, _ = self._class()
            if name not in _STORAGES:
                raise T7Error(_MISFIT)
            storage = self._storage(_STORAGES[name], number)
        return storage if isinstance(storage, STORAGE_CLASSES[dtype.index]) else None

    def _tensor(self, dtype: DType) -> Any:
        source = self._source
        count = source.read_int()
        if not 0 <= count <= MAX_DIMENSIONS:
            raise T7Error(f"corrupt file: a tensor of {count} dimensions")
        geometry = source.read_longs(2 * count + 1)
        sizes, strides, offset = geometry[:count], geometry[count:-1], geometry[-1] - 1
        storage = self._storage_of_tensor(dtype)
        if count and (storage is None or not fits_storage(storage, offset, sizes, strides)):
            raise T7Error(_MISFIT)
        check_dimensions(count)
        try:
            return tensor_over(dtype, storage, max(offset, 0), sizes, strides)
        except (ValueError, OverflowError):  # sizes or strides that numpy's arrays cannot have
            raise T7Error(_MISFIT) from None


@lru_cache(maxsize=64)
def _version(text: bytes) -> float | None:
    """Return the version that a string gives, as 'V 1'; None for the name of a class."""
    if not re.fullmatch(rb"V [0-9.eE+-]+", text):
        return None
    try:
        version = float(text[2:])
    except ValueError:
        return None
    return int(version) if version.is_integer() else version


@lru_cache(maxsize=64)
def _class_name(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
