"""Files that PyTorch wrote before zip files: a pickle and storages in one, and archives of tar.

Of either the storages' elements follow a count. Files of tar are from before PyTorch 0.1.9; there
the tensors, too, stand by themselves, and the pickle refers to them by numbers.
"""

from __future__ import annotations

import io
import tarfile
from pickle import UnpicklingError
from typing import IO, Any

from th_shell.runtime.io.foreign_files import START, foreign_kind, is_of_torch7
from th_shell.torch.base.require import require
from th_shell.torch.classes.storages import TypedStorage
from th_shell.torch.files.storing import (
    Place,
    checked,
    fill,
    new_storage,
    placed,
    read_struct,
    text,
)
from th_shell.torch.files.unpickling import DAMAGED, Unpickler, rebuild_tensor

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001


def load_old(file: IO[bytes], place: Place, encoding: str) -> Any:
    """The object of a file that is no zip file, from where it stands."""
    start = file.tell()
    head = file.read(START)
    file.seek(start)
    if not head:
        raise EOFError
    if head[:1] != b"\x80":  # of a pickle
        try:
            tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115
        except tarfile.TarError:
            raise RuntimeError(f"Invalid magic number; corrupt file?{_what_else(head)}") from None
        return _Tar(tar, place, encoding).load()
    return _Legacy(file, place, encoding).load()


def _what_else(head: bytes) -> str:
    """What a file is that PyTorch has not written, to stand behind an error's text."""
    if is_of_torch7(head):
        return " It may be a file of Torch7, which th_shell.load reads"
    kind = foreign_kind(head)
    return f" It is {kind}" if kind else ""


class _Legacy:
    """A file of pickles and storages, one after the other."""

    def __init__(self, file: IO[bytes], place: Place, encoding: str) -> None:
        self._file, self._place, self._encoding = file, place, encoding
        start = file.tell()
        self._left = file.seek(0, io.SEEK_END)  # bytes that storages can have
        file.seek(start)
        self._storages: dict[Any, TypedStorage] = {}
        self._unread: set[Any] = set()

    def load(self) -> Any:
        """The object, with the elements of its storages, which follow it."""
        require(self._pickled() == _MAGIC, "Invalid magic number; corrupt file?")
        version = self._pickled()
        require(version == _VERSION, "Invalid protocol version: {}", version)
        self._pickled()  # on what machine it was written
        value = Unpickler(self._file, self._encoding, self._storage).load()
        for key in self._pickled():
            self._unread.remove(key)
            _fill_counted(self._file, self._storages[key])
        if self._unread:
            raise UnpicklingError(f"{DAMAGED}: storages are missing")
        return value

    def _pickled(self) -> Any:
        return Unpickler(self._file, self._encoding).load()

    def _storage(self, pid: Any) -> Any:
        if text(pid[0]) == "module":
            return pid[1]
        if text(pid[0]) != "storage":
            raise RuntimeError(f"Unknown saved id type: {pid[0]}")
        _, kind, key, location, count, view = pid
        if key not in self._storages:
            elements = checked(kind, count, self._left)
            self._left -= count * elements.itemsize
            made = new_storage(elements, count)
            self._storages[key] = placed(made, elements, text(location), self._place)
            self._unread.add(key)
        if view is None:
            return self._storages[key]
        view_key, offset, size = view
        return self._storages.setdefault(view_key, _part(self._storages[key], offset, size))


class _Tar:
    """An archive of storages, of tensors, and of the pickle."""

    def __init__(self, tar: tarfile.TarFile, place: Place, encoding: str) -> None:
        self._tar, self._place, self._encoding = tar, place, encoding
        self._objects: dict[int, Any] = {}  # storages and tensors

    def load(self) -> Any:
        """The object."""
        with self._member("storages") as file:
            for _ in range(self._pickled(file)):
                self._read_storage(file, *self._pickled(file))
            for key, root, offset, size in self._pickled(file):
                self._objects[key] = _part(self._objects[root], offset, size)
        with self._member("tensors") as file:
            for _ in range(self._pickled(file)):
                self._read_tensor(file, *self._pickled(file))
        with self._member("pickle") as file:
            return Unpickler(file, self._encoding, self._object).load()

    def _member(self, name: str) -> IO[bytes]:
        try:
            found = self._tar.extractfile(name)
        except tarfile.TarError as error:
            raise UnpicklingError(f"{DAMAGED}: {error}") from None
        if found is None:
            raise UnpicklingError(f"{DAMAGED}: {name} is no file")
        return found

    def _pickled(self, file: IO[bytes]) -> Any:
        return Unpickler(file, self._encoding).load()

    def _read_storage(self, file: IO[bytes], key: int, location: Any, kind: Any) -> None:
        (count,) = read_struct(file, "<q")
        start = file.tell()
        elements = checked(kind, count, file.seek(0, io.SEEK_END) - start)
        file.seek(start)
        storage = new_storage(elements, count)
        fill(file, storage.data)
        self._objects[key] = placed(storage, elements, text(location), self._place)

    def _read_tensor(self, file: IO[bytes], key: int, storage: int, _: Any) -> None:
        ndim, _ = read_struct(file, "<ii")
        sizes = read_struct(file, f"<{ndim}q")
        strides = read_struct(file, f"<{ndim}q")
        (offset,) = read_struct(file, "<q")
        self._objects[key] = rebuild_tensor(self._objects[storage], offset, sizes, strides)

    def _object(self, pid: Any) -> Any:
        return pid[0] if isinstance(pid, tuple) else self._objects[int(pid)]


def _part(whole: TypedStorage, offset: int, size: int) -> TypedStorage:
    """Elements of a storage, as another one."""
    data = whole.array
    if not (0 <= offset and 0 <= size and offset + size <= len(data)):
        raise UnpicklingError(f"{DAMAGED}: a storage views what another has not")
    part = type(whole.object)(data[offset : offset + size], whole.object)
    return TypedStorage(part, dtype=whole.dtype)


def _fill_counted(file: IO[bytes], storage: TypedStorage) -> None:
    (count,) = read_struct(file, "<q")
    data = storage.object.data
    size = data.nbytes // storage.dtype.itemsize
    if count != size:
        raise UnpicklingError(f"{DAMAGED}: a storage has {count} elements, not {size}")
    fill(file, data)
