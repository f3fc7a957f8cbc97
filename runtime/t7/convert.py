"""Converts files of Torch7: to arrays (.npz), to their structure as JSON, or to another format.

Arrays are written one after the other, in parts, so that a file may be larger than the memory.

In JSON tables are lists where their keys are 1 to n, and objects where they are strings. All else
is an object whose first key begins with '$': ``{"$class": "nn.Linear", "weight": {"$tensor": …}}``.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterable
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.files import Format, Path, load, save
from th_shell.runtime.t7.tensors import elements, lua_tensor, parts_of, storage_of
from th_shell.runtime.t7.values import Function, T7Error, Table, TorchObject, name_of_key
from th_shell.runtime.t7.working_memory import count_left_out, is_short, portable_parts
from th_shell.torch.tensors.tensor import Tensor

#: The kinds of files that there are to convert to.
TARGETS = (".npz", ".json", ".t7")


def convert(
    source: Path,
    target: Path,
    format: Format = "binary",
    progress: Callable[[int], object] = lambda count: None,
    everything: bool = False,
) -> int:
    """Convert a file of Torch7 to what the end of the target's name says; returns `count_left_out`.

    .npz: the arrays of `write_npz`. .json: the structure, of `outline`. .t7: a file of Torch7 in
    a format of `save`. The target is replaced when the new file is complete.
    progress: gets the number of bytes of elements that were just written.
    everything: whether .npz and .json have what `without_working_memory` leaves out, too:
    gradients, results, room to compute in, an optimizer's state; .npz then numbers and strings.

    Raises OSError, T7Error, and ValueError for another name.
    """
    ending = os.path.splitext(os.fsdecode(target))[1]
    if ending not in TARGETS:
        raise ValueError(f"the name of the new file ends with one of {', '.join(TARGETS)}")
    try:
        return _convert(source, target, ending, format, progress, everything)
    except T7Error:
        raise
    except TorchError as error:  # where the file has changed meanwhile, or there is no memory
        raise T7Error(str(error)) from None


def _convert(
    source: Path,
    target: Path,
    ending: str,
    format: Format,
    progress: Callable[[int], object],
    everything: bool,
) -> int:
    value = load(source)
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "wb", closefd=False) as file:
            if ending == ".t7":
                counted: Any = _Counted(file, progress)
                save(counted, value, format)
                return 0
            structure, values = portable_parts(value, everything)
            if ending == ".npz":
                write_npz(file, values, progress)
            else:
                text = outline_text(structure)
                file.write(text.encode("utf-8", "surrogateescape") + b"\n")
    return count_left_out(value, structure)


class _Counted:
    """A file that tells how many bytes are written to it."""

    def __init__(self, file: IO[bytes], progress: Callable[[int], object]) -> None:
        self._file = file
        self._progress = progress

    def write(self, data: Any) -> None:
        self._file.write(data)
        self._progress(len(data))


_SUFFIX = ".npy"
_LONGEST = 0xFFFF  # bytes of a file's name in an archive, whose length has 2 bytes there
_SHOWN = 40  # characters of a name in an error
_DOTS = re.compile(r"(?<![^/\\])\.+(?![^/\\])")  # parts of a path that are dots alone
_EMPTY = re.compile("(?<![^/])(?=/)")  # and parts that are nothing: before a slash, or between two


def write_npz(
    file: IO[bytes], values: Iterable[tuple[str, Any]], progress: Callable[[int], object]
) -> None:
    """Write what `portable_parts` names. progress: gets the number of bytes that were just written.

    Where two names are the same, the second gets '#2', and so on. Of
    paths, what would lead out of a folder is lines: '__/x' for '../x'.
    Strings that numpy cannot hold as text are arrays of their bytes.

    Raises T7Error for a name that is too long for the format.
    """
    names = _Names()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, item in values:
            if item is None:
                continue
            with archive.open(names.member(name), "w", force_zip64=True) as out:
                _write(out, item, progress)


class _Names:
    """The names of an archive's files, each of which is there once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  # the numbers behind names that were asked for before

    def member(self, name: str) -> str:
        """Return a new file's name, for an array of a name."""
        name = _inside(name)
        number, unique = self._last.get(name, 1), name
        # numpy finds an array by its name and by its file's: so both are taken.
        while not self._taken.isdisjoint((unique, f"{unique}{_SUFFIX}")):
            number += 1
            unique = f"{name}#{number}"
        self._last[name] = number
        file = f"{unique}{_SUFFIX}"
        self._taken |= {unique, file}
        length = len(file.encode())
        if length > _LONGEST:
            raise T7Error(
                f"the name of an array has {length} bytes ({name[:_SHOWN]}...): .npz has room for "
                f"{_LONGEST}"
            )
        return file


def _inside(name: str) -> str:
    """Return a name that, as a path, leads to what is in the folder."""
    return _EMPTY.sub("_", _DOTS.sub(lambda match: "_" * len(match[0]), name))


def _write(out: IO[bytes], value: Any, progress: Callable[[int], object]) -> None:
    sizes, kind, parts = _parts(value)
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": sizes}
    np.lib.format.write_array_header_2_0(out, header)
    for part in parts:
        out.write(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        progress(part.nbytes)


def _parts(value: Any) -> tuple[tuple[int, ...], np.dtype[Any], Iterable[Array]]:
    """Return the sizes of an array, numpy's type of its elements, and these in parts."""
    storage = storage_of(value)
    if storage is not None:
        return (storage.size,), storage.dtype.numpy, parts_of(storage)
    if isinstance(value, Tensor):
        tensor = lua_tensor(value)
        return tensor.sizes or (0,), tensor.dtype.numpy, elements(tensor)
    array = _plain(value)
    return array.shape, array.dtype, (array,)


def _plain(value: Any) -> Array:
    """Return a number, boolean or string as an array without dimensions."""
    if isinstance(value, str) and not value.endswith("\0"):
        return np.array(value)
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return np.frombuffer(data, np.uint8)
    return np.array(value)


_MAX_DEPTH = 200  # deeper than Python's writer of JSON goes with its stack, no file is of use


def outline(value: Any) -> Any:
    """Return the structure in values that JSON has. Raises T7Error for too deep a nesting."""
    return _Outline().of(value, "value", 0)


def outline_text(value: Any) -> str:
    """Return the outline as text, with lists of numbers in one line."""
    text = json.dumps(outline(value), ensure_ascii=False, indent=1)
    # In JSON's strings are no line breaks: what matches is none.
    return re.sub(r"\[\n[-+0-9.eE,\s]+\]", lambda match: re.sub(r"\s+", " ", match[0]), text)


class _Outline:
    """One outline. What occurs again is ``{"$same": name}``, by the name of where it was first."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._storages: dict[int, int] = {}  # their numbers, by which tensors share them
        self._objects: list[Any] = []  # all that were named: an identity must not be used again

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
        self._objects.append(value)
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
        outline = {
            "$storage": storage.dtype.storage_name,
            "size": storage.size,
            "number": self._number(storage),
        }
        if is_short(value):
            outline["elements"] = storage.data.tolist()
        return outline

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
        outline: dict[str, Any] = {"$tensor": tensor.dtype.tensor_name, "size": list(tensor.sizes)}
        if tensor.sizes:
            outline["stride"] = list(tensor.strides)
            outline["offset"] = tensor.offset + 1
            outline["storage"] = self._number(tensor.storage)
        return outline

    def _number(self, storage: Any) -> int:
        self._objects.append(storage)
        return self._storages.setdefault(id(storage), len(self._storages) + 1)
