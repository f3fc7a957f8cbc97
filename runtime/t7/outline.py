"""What a file holds, as JSON: its structure, without the elements of tensors.

Tables are lists where their keys are 1 to n, objects where they are strings. All else is an object
whose first key begins with '$': ``{"$class": "nn.Linear", "weight": {"$tensor": …}}``.
"""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any

from th_shell.runtime.core.dtypes import LONG
from th_shell.runtime.t7.faces import lua_tensor, storage_of
from th_shell.runtime.t7.values import Function, T7Error, Table, TorchObject
from th_shell.runtime.t7.walk import name_of_key
from th_shell.torch.tensors.tensor import Tensor

_MAX_SIZES = 16  # elements of a LongStorage that are told: modules have sizes as such
_MAX_DEPTH = 200  # deeper than Python's writer of JSON goes with its stack, no file is of use


def outline(value: Any) -> Any:
    """The structure, of values that JSON has. Raises T7Error for what is nested too deeply."""
    return _Outline().of(value, "value", 0)


def has_all(value: Any) -> bool:
    """Whether the outline has a storage's elements."""
    storage = storage_of(value)
    return storage is not None and storage.dtype is LONG and storage.size <= _MAX_SIZES


def outline_text(value: Any) -> str:
    """The outline as text, with lists of numbers in one line."""
    text = json.dumps(outline(value), ensure_ascii=False, indent=1)
    # In JSON's strings are no line breaks: what matches is none.
    return re.sub(r"\[\n[-+0-9.eE,\s]+\]", lambda found: re.sub(r"\s+", " ", found[0]), text)


class _Outline:
    """One outline. What occurs again is ``{"$same": name}``, by the name of where it was first."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._storages: dict[int, int] = {}  # their numbers, by which tensors share them
        self._kept: list[Any] = []  # so that identities are not used again

    def of(self, value: Any, name: str, depth: int) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$number": str(value)}
        if isinstance(value, bytes):
            return {"$bytes": base64.b64encode(value).decode()}
        if depth > _MAX_DEPTH:
            raise T7Error(f"{name.count('.') + 1} tables in each other are too many for JSON")
        first = self._names.setdefault(id(value), name)
        if first != name:
            return {"$same": first}
        self._kept.append(value)
        return self._object(value, name, depth)

    def _object(self, value: Any, name: str, depth: int) -> Any:
        if isinstance(value, Table):
            return self._table(value, name, depth)
        if isinstance(value, TorchObject):
            fields = self._fields(value.fields, name, depth)
            return {"$class": value.torch_typename, **fields}
        if isinstance(value, Function):
            upvalues = self.of(value.upvalues, f"{name}.upvalues", depth + 1)
            return {"$function": len(value.bytecode), "upvalues": upvalues}
        if isinstance(value, Tensor):
            return self._tensor(value)
        storage = storage_of(value)
        if storage is None:  # what a function of `readers` has made
            return {"$other": type(value).__name__}
        found = {
            "$storage": storage.dtype.storage_name,
            "size": storage.size,
            "number": self._number(storage),
        }
        if has_all(value):
            found["elements"] = storage.data.tolist()
        return found

    def _table(self, table: Table, name: str, depth: int) -> Any:
        if table.is_list:
            items = enumerate(table.to_list(), 1)
            return [self.of(item, f"{name}.{n}", depth + 1) for n, item in items]
        return self._fields(table, name, depth)

    def _fields(self, table: Table, name: str, depth: int) -> dict[str, Any]:
        def inner(key: Any, value: Any) -> Any:
            return self.of(value, f"{name}.{name_of_key(key)}", depth + 1)

        if all(isinstance(key, str) and not key.startswith("$") for key in table):
            return {key: inner(key, value) for key, value in table.items()}
        entries = [
            [self.of(key, f"{name}.{name_of_key(key)}", depth + 1), inner(key, value)]
            for key, value in table.items()
        ]
        return {"$entries": entries}

    def _tensor(self, value: Tensor) -> dict[str, Any]:
        tensor = lua_tensor(value)
        found: dict[str, Any] = {"$tensor": tensor.dtype.tensor_name, "size": list(tensor.sizes)}
        if tensor.sizes:
            found["stride"] = list(tensor.strides)
            found["offset"] = tensor.offset + 1
            found["storage"] = self._number(tensor.storage)
        return found

    def _number(self, storage: Any) -> int:
        self._kept.append(storage)
        return self._storages.setdefault(id(storage), len(self._storages) + 1)
