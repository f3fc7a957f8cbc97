"""torch.load: reads what PyTorch of any version has saved, tensors and plain containers alone.

The storages of zip files are read or mapped here; what PyTorch wrote before 1.6 is refused.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import zipfile
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.mapping import map_privately
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.io.foreign_files import START, foreign_kind, is_of_torch7
from th_shell.torch.calls.messages import no_memory
from th_shell.torch.classes.storages import TypedStorage
from th_shell.torch.files.safetensors_files import load_safetensors
from th_shell.torch.files.saving import HEADER
from th_shell.torch.files.storage_loading import (
    Place,
    checked,
    fill,
    new_storage,
    placed,
    placing,
    text,
)
from th_shell.torch.files.unpickling import Unpickler, pytorch_errors
from th_shell.torch.tensors.tensor import storage_type
from th_shell.torch.tensors.unprovided import memory_of

_MAGIC = b"PK\x03\x04"  # what a zip file, and each header in it, begins with


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Read the object of a file that PyTorch, or `save`, has written; no code of the file runs.

    f: a path, or a binary file object. map_location: where storages are to be that were on other
    devices: 'cpu', or by their names, or by a function of a storage and its device's name. mmap:
    storages are mapped, and read when they are used; changes do not reach the file, which must be
    one of `save` or of PyTorch since 1.6, named by its path. encoding: of texts of Python 2.

    A path that ends in .safetensors names a file of that format.
    Raises UnpicklingError for what is no tensor or plain container, and for a damaged file;
    RuntimeError for other files; OSError; EOFError.
    """
    if weights_only is False:
        raise NotImplementedError(
            "weights_only=False is not provided here: no code of a file runs. Leave it out, if the "
            "file has tensors and plain containers alone"
        )
    if pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    is_path = isinstance(f, (str, os.PathLike))
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    place = placing(map_location)
    try:
        if not is_path:
            return _load(_seekable(f), place, False, encoding)
        path = os.fspath(f)  # type: ignore[arg-type]
        with open(path, "rb") as file:
            if path.endswith(".safetensors"):
                return load_safetensors(file)
            return _load(file, place, bool(mmap), encoding)
    except (MemoryError, TorchError) as error:
        raise no_memory(error) from None


def _seekable(file: Any) -> Any:
    for name in ("seek", "tell"):
        if not hasattr(file, name):
            raise AttributeError(
                f"'{type(file).__name__}' object has no attribute '{name}'. You can only "
                "torch.load from a file that is seekable. Please pre-load the data into a buffer "
                "like io.BytesIO and try to load from it instead."
            )
    return file


def _load(file: IO[bytes], place: Place, mmap: bool, encoding: str) -> Any:
    start = file.tell()
    head = file.read(START)
    file.seek(start)
    if head.startswith(_MAGIC):
        archive = _ZipFile(file, place, mmap)
        with pytorch_errors():
            return archive.load(encoding)
    if not head:
        raise EOFError("Ran out of input")
    raise RuntimeError(f"Invalid magic number; corrupt file?{_file_kind(head)}")


def _file_kind(head: bytes) -> str:
    """Return what file PyTorch has not written, to stand behind an error's text; '' if unknown."""
    if is_of_torch7(head):
        return " It may be a file of Torch7, which th_shell.load reads"
    kind = foreign_kind(head)
    return f" It is {kind}" if kind else ""


class _Archive:
    """A zip file that is read. Raises RuntimeError, in PyTorch's words, where it is none."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        try:
            files = zipfile.ZipFile(file).infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error):
            raise _damaged("failed finding central directory") from None
        self._size = file.seek(0, io.SEEK_END)
        self._root = files[0].filename.partition("/")[0] if files else ""
        self._files = {info.filename: info for info in files}

    def __contains__(self, name: str) -> bool:
        return f"{self._root}/{name}" in self._files

    def place(self, name: str) -> tuple[int, int]:
        """Return the offset of a file's bytes in the archive, and their number."""
        info = self._files.get(f"{self._root}/{name}")
        if info is None:
            raise _damaged(f"file not found: {self._root}/{name}")
        begin, is_plain = info.header_offset, info.compress_type == zipfile.ZIP_STORED
        self._file.seek(max(0, begin))
        head = self._file.read(HEADER)
        if begin < 0 or len(head) < HEADER or head[:4] != _MAGIC or not is_plain:
            raise _damaged(f"{name} is compressed, or not where the archive says")
        start = begin + HEADER + sum(struct.unpack("<HH", head[26:]))
        if start + info.file_size > self._size:
            raise _damaged(f"{name} ends behind the file's end")
        return start, info.file_size

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        start, size = self.place(name)
        self._file.seek(start)
        return self._file.read(size)


def _damaged(why: str) -> RuntimeError:
    return RuntimeError(f"PytorchStreamReader failed reading zip archive: {why}")


class _ZipFile:
    """The storages of a zip file that is being read."""

    def __init__(self, file: IO[bytes], place: Place, mmap: bool) -> None:
        self._file = file
        self._archive = _Archive(file)
        if "constants.pkl" in self._archive:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with TorchScript archives passed "
                "to ``torch.load``."
            )
        self._place = place
        order = self._archive.read("byteorder") if "byteorder" in self._archive else b"little"
        self._swap = order.decode("latin-1") != sys.byteorder
        self._memory = map_privately(file.fileno()) if mmap else None
        self._storages: dict[str, TypedStorage] = {}

    def load(self, encoding: str) -> Any:
        pickled = io.BytesIO(self._archive.read("data.pkl"))
        return Unpickler(pickled, encoding, self._storage).load()

    def _storage(self, pid: Any) -> TypedStorage:
        if type(pid) is not tuple or len(pid) != 5 or text(pid[0]) != "storage":
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {pid!r}")
        _, kind, key, location, count = pid
        typed = self._storages.get(text(key))
        if typed is None:
            storage = self._read(kind, text(key), count)
            typed = placed(storage, kind.elements, text(location), self._place)
            self._storages[text(key)] = typed
        return typed

    def _read(self, kind: Any, key: str, count: Any) -> Storage:
        start, size = self._archive.place(f"data/{key}")
        kind = checked(kind, count, size)
        if self._memory is not None and not start % kind.itemsize:
            memory, size = memory_of(kind, count)
            data = np.frombuffer(self._memory, memory, size, start)
            storage = storage_type(memory)(data, self._memory)
        else:
            storage = new_storage(kind, count)
            self._file.seek(start)
            fill(self._file, storage.data)
        if self._swap:
            storage.data.byteswap(inplace=True)
        return storage
