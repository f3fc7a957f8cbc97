"""Writes objects to files, as Torch7 does: see reader.py for the kinds of objects.

What is incomplete is on a stack of our own, so that objects may be nested to any depth.
"""

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import EXACT
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor as LuaTensor
from th_shell.runtime.t7.tensors import lua_tensor, storage_of, tensor_of
from th_shell.runtime.t7.text import Sink
from th_shell.runtime.t7.values import (
    BOOLEAN,
    NIL,
    NUMBER,
    PLAIN_FUNCTION,
    STRING,
    TABLE,
    TORCH,
    Function,
    T7Error,
    Table,
    TdsVec,
    TorchObject,
    head_of,
)
from th_shell.torch.tensors.tensor import Tensor


class ObjectWriter:
    """Writes objects to one file. What occurs again is written as its number."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._numbers: dict[int, int] = {}  # of objects by their identities
        self._objects: list[Any] = []  # the objects: an identity must not be used again

    def write(self, value: Any) -> None:
        """Write a value and all that it holds. Raises T7Error for what no file can have."""
        stack = [iter((value,))]
        while stack:
            for value in stack[-1]:
                contents = self._write_head(value)
                if contents is not None:
                    stack.append(contents)
                    break
            else:
                stack.pop()

    def _write_head(self, value: Any) -> Iterator[Any] | None:
        """Write a value, or its head; the objects that it returns then follow."""
        sink = self._sink
        if value is None:
            sink.put_int(NIL)
        elif isinstance(value, (bool, np.bool_)):
            sink.put_int(BOOLEAN)
            sink.put_int(int(value))
        elif isinstance(value, (int, float, np.number)):
            sink.put_int(NUMBER)
            sink.put_double(lua_number(value))
        elif isinstance(value, (str, bytes, bytearray)):
            sink.put_int(STRING)
            sink.put_string(_string(value))
        else:
            return self._write_object(value)
        return None

    def _write_object(self, value: Any) -> Iterator[Any] | None:
        if isinstance(value, TorchObject):
            return self._write_fields(value) if self._write_number(TORCH, value) else None
        if isinstance(value, Function):
            is_new = self._write_number(value.kind, value)
            return self._write_function(value) if is_new else None
        if isinstance(value, (Mapping, list, tuple)):
            kind = TORCH if getattr(value, "torch_typename", "") else TABLE
            return self._write_table(value) if self._write_number(kind, value) else None
        storage = storage_of(value)
        if storage is not None:
            if self._write_number(TORCH, storage):
                self._write_storage(storage)
            return None
        tensor = _tensor(value)
        if tensor is None:
            raise T7Error(f"Unwritable object <{type(value).__name__}>")
        lua = lua_tensor(tensor)
        self._objects.append(lua)  # so that no other storage gets the identity of its
        return self._write_tensor(lua) if self._write_number(TORCH, value) else None

    def _write_number(self, kind: int, value: Any) -> bool:
        """Write the kind of an object and its number; returns whether its contents follow."""
        self._sink.put_int(kind)
        if kind == PLAIN_FUNCTION:
            return True
        if isinstance(value, tuple):  # Python may have equal ones once: each becomes a table
            value = [value]
        old_number = self._numbers.get(id(value))
        self._sink.put_int(old_number or len(self._numbers) + 1)
        if old_number:
            return False
        self._numbers[id(value)] = len(self._numbers) + 1
        self._objects.append(value)
        return True

    def _write_table(self, value: Any) -> Iterator[Any]:
        if isinstance(value, Mapping):
            entries = value if isinstance(value, Table) else Table(value)
            if len(entries) != sum(item is not None for item in value.values()):
                raise T7Error("two keys of a dict are one in Lua")
        else:
            entries = Table.of(value)
        if name := getattr(value, "torch_typename", ""):
            self._write_class(name, "V 0")
            self._sink.put_long(len(entries))
        else:
            self._sink.put_int(len(entries))
        if isinstance(value, TdsVec):
            values = value.to_list()
            if len(values) != len(value):
                raise T7Error("the keys of a tds.Vec are 1, 2, ...")
            return iter(values)
        return (part for entry in entries.items() for part in entry)

    def _write_function(self, function: Function) -> Iterator[Any]:
        self._sink.put_string(function.bytecode)
        return iter((function.upvalues,))

    def _write_fields(self, value: TorchObject) -> Iterator[Any]:
        version = value.version  # files that are older than versions have only the name
        self._write_class(value.torch_typename, f"V {version:.14g}" if version else "")
        head = head_of(value)
        return iter((value.fields,) if head is None else (head(value.fields), value.fields))

    def _write_storage(self, storage: Storage) -> None:
        self._write_class(storage.dtype.storage_name)
        self._sink.put_long(storage.size)
        self._sink.put_elements(storage)

    def _write_tensor(self, tensor: LuaTensor) -> Iterator[Any]:
        self._write_class(tensor.dtype.tensor_name)
        self._sink.put_int(len(tensor.sizes))
        self._sink.put_longs(tensor.sizes)
        self._sink.put_longs(tensor.strides)
        self._sink.put_long(tensor.offset + 1)
        return iter((tensor.storage,))

    def _write_class(self, name: str, version: str = "V 1") -> None:
        if version:
            self._sink.put_string(version.encode())
        self._sink.put_string(_string(name))


def _string(value: str | bytes | bytearray) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)


def lua_number(value: Any) -> int | float:
    """Return a number of Python's or numpy's as one that Lua can have, whose numbers are doubles.

    Raises T7Error for a whole number that no double is, and for a complex one.
    """
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if not -EXACT <= whole <= EXACT:
            raise T7Error(f"{whole} is no number of Lua: whole numbers are exact up to 2^53")
        return whole
    if isinstance(value, np.complexfloating):
        raise T7Error("Lua has no complex numbers")
    return float(value)


def _tensor(value: Any) -> Tensor | None:
    if isinstance(value, np.ndarray):
        # A copy of what no tensor can share: another byte order, strides below 0.
        value = np.array(value, value.dtype.newbyteorder("="), order="C")
    return tensor_of(value)
