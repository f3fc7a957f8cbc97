"""torch.load: reads what PyTorch since 1.6 has saved, tensors and plain containers alone.

What PyTorch wrote before 1.6 is refused.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.io.foreign_files import START, foreign_kind, is_of_torch7
from th_shell.torch.base.device import check_device
from th_shell.torch.calls.messages import no_memory
from th_shell.torch.files.saving import HEADER
from th_shell.torch.files.unpickling import DAMAGED, StorageKind, Unpickler, pytorch_errors
from th_shell.torch.tensors.storages import TypedStorage
from th_shell.torch.tensors.tensor import storage_type

_MAGIC = b"PK\x03\x04"  # what a zip file, and each header in it, begins with
_PIECE = 1 << 24  # bytes that are read at a time


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Any = None,
    *,
    weights_only: bool | None = True,
) -> Any:
    """Read the object of a file that PyTorch, or `save`, has written; no code of the file runs.

    f: a path, or a binary file object. map_location: the processor, for storages of other devices.

    Raises UnpicklingError for what is no tensor or plain container, and for a damaged file;
    RuntimeError for other files; OSError; EOFError.
    """
    if weights_only is False:
        raise NotImplementedError(
            "weights_only=False is not provided here: no code of a file runs. Leave it out, if the "
            "file has tensors and plain containers alone"
        )
    if callable(map_location) or isinstance(map_location, dict):
        raise NotImplementedError("map_location is 'cpu' here: there is no other device")
    check_device(map_location)
    is_mapped = map_location is not None
    try:
        if not isinstance(f, (str, os.PathLike)):
            return _load(f, is_mapped)
        with open(f, "rb") as file:
            return _load(file, is_mapped)
    except (MemoryError, TorchError) as error:
        raise no_memory(error) from None


def _load(file: IO[bytes], is_mapped: bool) -> Any:
    start = file.tell()
    head = file.read(START)
    file.seek(start)
    if head.startswith(_MAGIC):
        archive = _ZipFile(file, is_mapped)
        with pytorch_errors():
            return archive.load()
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

    def __init__(self, file: IO[bytes], is_mapped: bool) -> None:
        self._file = file
        self._is_mapped = is_mapped
        self._archive = _Archive(file)
        if "constants.pkl" in self._archive:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with TorchScript archives passed "
                "to ``torch.load``."
            )
        if "byteorder" in self._archive and self._archive.read("byteorder") != b"little":
            raise NotImplementedError("files with the bytes in the other order are not read here")
        self._storages: dict[str, TypedStorage] = {}

    def load(self) -> Any:
        return Unpickler(io.BytesIO(self._archive.read("data.pkl")), self._storage).load()

    def _storage(self, pid: Any) -> TypedStorage:
        if type(pid) is not tuple or len(pid) != 5 or pid[0] != "storage":
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {pid!r}")
        _, kind, key, location, count = pid
        typed = self._storages.get(key)
        if typed is None:
            storage = self._read(kind, key, count)
            _check_location(str(location), self._is_mapped)
            typed = self._storages[key] = TypedStorage(storage, dtype=kind.elements)
        return typed

    def _read(self, kind: Any, key: str, count: Any) -> Storage:
        start, size = self._archive.place(f"data/{key}")
        if type(kind) is not StorageKind or type(count) is not int:
            raise UnpicklingError(f"{DAMAGED}: a storage of {count!r} elements of {kind!r}")
        if not 0 <= count * kind.elements.itemsize <= size:
            raise UnpicklingError(f"{DAMAGED}: it has no {count} elements of {kind.elements!r}")
        storage = storage_type(kind.elements.numpy).new(count)
        self._file.seek(start)
        _fill(self._file, storage.data)
        return storage


def _check_location(location: str, is_mapped: bool) -> None:
    """Raise RuntimeError for a storage of another device, unless the call maps it."""
    if location.startswith("cpu") or is_mapped:
        return
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    raise RuntimeError(
        f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location})"
    )


def _fill(file: IO[bytes], data: Array) -> None:
    """Read elements from where a file stands."""
    view = data.view(np.uint8).data
    for at in range(0, len(view), _PIECE):
        part = file.read(min(_PIECE, len(view) - at))
        if len(part) < min(_PIECE, len(view) - at):
            raise EOFError
        view[at : at + len(part)] = part
