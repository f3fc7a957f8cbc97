"""`load` and `save`: what Python programs call to read and write files of Torch7."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, Literal, TypeAlias, overload

from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.process import nothing_is_garbage
from th_shell.runtime.io.foreign_files import START, explanation, is_ascii
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.binary import BinarySink, BinarySource, Bytes, DiskBytes, MemoryBytes, Put
from th_shell.runtime.t7.reader import ObjectReader, Reader, Source
from th_shell.runtime.t7.text import Sink, TextSink, TextSource
from th_shell.runtime.t7.values import Function, T7Error, Table, TorchObject
from th_shell.runtime.t7.writer import ObjectWriter
from th_shell.torch.tensors.storages import TypedStorage
from th_shell.torch.tensors.tensor import Tensor

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Format = Literal["binary", "b32", "b64", "ascii"]
#: A value in a file.
Value: TypeAlias = (
    bool | int | float | str | bytes | Tensor | TypedStorage | Table | TorchObject | Function | None
)

_INCOMPLETE = "the file is incomplete, or was damaged"


@overload
def load(
    file: Path | IO[bytes], format: Format | None = None, *, readers: None = None, lazy: bool = True
) -> Value: ...
@overload
def load(
    file: Path | IO[bytes],
    format: Format | None = None,
    *,
    readers: Mapping[str, Reader],
    lazy: bool = True,
) -> Any: ...
def load(
    file: Path | IO[bytes],
    format: Format | None = None,
    *,
    readers: Mapping[str, Reader] | None = None,
    lazy: bool = True,
) -> Any:
    """Read the object in a file that torch.save of Torch7, or `save`, has written. No Lua runs.

    file: a path, or a binary file object, which is read to its end.
    format: None finds it out; 'ascii', or 'binary' with longs of 8 bytes ('b64' is the same), or of
    4 bytes ('b32'), as Torch7 writes them on Windows and on machines of 32 bits (found out of files
    in which nothing stands behind the object).
    readers: for names of classes that have a format of their own, functions that read an object's
    contents. They get an object with the methods `read_object`, `read_int`, `read_long`,
    `read_double` and `read_string`; what they return stands for the object.
    lazy: whether the elements of storages in files of 32 MB and more stay in the file, which stays
    open, until they are first used. If the file is changed before, that use raises an error.
    (`save`, and Torch7's torch.save here, do not change a file: they replace it.)

    Returns, for a number an int where it is whole (up to 2^53; -0 is a float), otherwise a float;
    for a string a str where it is UTF-8, otherwise bytes; for a table, a tds.Hash or a tds.Vec
    a `Table`; for a tensor or storage one over the same elements, and those that share a storage
    in the file share it; for an object of another class a `TorchObject`; for a function a
    `Function`; None for nil. What the file has once is one object, so that cycles stay cycles.
    Tensors of a GPU are read into memory.

    Raises OSError where the file cannot be read, T7Error where it is damaged or another file (it
    says of which kind, where its first bytes tell), and MemoryError where its tensors do not fit
    into memory.
    """
    source, name = _opened(file, lazy)
    start = source.read(0, START)
    form = "ascii" if format is None and is_ascii(start) else format
    try:
        return _load(source, name, form, readers)
    except T7Error as error:
        mode = None if format is None else "ascii" if format == "ascii" else "binary"
        why = explanation(start, mode)
        if not why and str(error).startswith("read error"):
            why = _INCOMPLETE
        if not why:
            raise
        raise T7Error(f"{error}: {why}") from None


def _load(
    source: Bytes, name: str, format: Format | None, readers: Mapping[str, Reader] | None
) -> Any:
    if format == "ascii":
        return _read(TextSource(source.read(0, source.size)), readers or {}, name)
    order = _byte_order(source)
    first = BinarySource(source, order, 4 if format == "b32" else 8)
    try:
        return _read(first, readers or {}, name)
    except T7Error:
        if format is not None or not first.has_longs:
            raise
        # Longs of 4 bytes, if with these the file ends where the object does: a damaged file of
        # longs of 8 bytes may have an object, too, if half of each is read.
        with suppress(T7Error):
            second = BinarySource(source, order, 4)
            value = _read(second, readers or {}, name)
            if second.position == source.size:
                return value
        raise  # what is wrong if the longs have 8 bytes, as most files' have


def save(file: Path | IO[bytes], value: Any, format: Format = "binary") -> None:
    """Write an object to a file, which torch.load of Torch7, and `load`, can read.

    file: a path, whose file is replaced when the new one is complete and on the disk; or a binary
    file object. format: see `load`.
    value: what `load` returns; besides, lists and tuples (their keys count from 1), dicts, arrays
    of numpy (tensors), and numbers of numpy. Objects that occur several times, or hold themselves,
    do so in the file; but each place of a tuple has a table of its own.

    Raises OSError where the file cannot be written; T7Error for a value that no file can have,
    such as whole numbers beyond 2^53; TypeError for element types that Torch7 does not have.
    """
    if format not in ("binary", "b32", "b64", "ascii"):
        raise ValueError(f"a format is 'binary', 'b32', 'b64' or 'ascii', not {format!r}")
    if isinstance(file, (str, bytes, os.PathLike)):
        with Replacement(os.fsencode(file)) as replacement:
            _write(replacement.write, value, format)
    else:
        _write(file.write, value, format)


load.__module__ = save.__module__ = "th_shell"  # where programs find them


def _opened(file: Path | IO[bytes], lazy: bool) -> tuple[Bytes, str]:
    """Return the bytes of a file, and its name for errors."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        name = getattr(file, "name", None)
        return MemoryBytes(file.read()), name if isinstance(name, str) else "file"
    name = printable(os.fsencode(file))
    with io.FileIO(os.fsdecode(file)) as raw:
        status = os.fstat(raw.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            return DiskBytes(os.dup(raw.fileno()), name, lazy), name
        return MemoryBytes(raw.readall()), name


def _byte_order(source: Bytes) -> str:
    """Return '>' for a file of a machine with the other byte order, otherwise '<'."""
    start = source.read(0, 4)
    return ">" if start[:3] == bytes(3) and start[3:] > b"\0" else "<"


def _read(source: Source, readers: Mapping[str, Reader], name: str) -> Any:
    try:
        with nothing_is_garbage():
            return ObjectReader(source, readers).read_object()
    except T7Error as error:
        raise T7Error(f"{error} ({name}, at byte {source.position})") from None
    except TorchError as error:  # of the memory of storages
        raise MemoryError(str(error)) from None


def _write(put: Put, value: Any, format: Format) -> None:
    sink: Sink = (
        TextSink(put) if format == "ascii" else BinarySink(put, 4 if format == "b32" else 8)
    )
    ObjectWriter(sink).write(value)
    sink.flush()
