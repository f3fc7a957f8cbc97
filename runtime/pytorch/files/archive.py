"""The zip files of PyTorch: a pickle, and a file for the elements of each storage.

Nothing in them is compressed. Below one folder stand data.pkl, the pickle, and data/0, data/1 …,
whose bytes begin at multiples of 64, so that they can be mapped into memory.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from typing import IO, Any

from th_shell.torch.files.pickling import Pickler

MAGIC = b"PK\x03\x04"  # what a zip file, and each header in it, begins with
_ROOT = "archive"
_ALIGNMENT = 64
_PADDING_FIELD = 0x4246  # the extra field of a file's header in which the padding stands ("FB")
_HEADER = 30  # bytes before the name in a file's header
_LARGE_FIELD = 20  # bytes of the extra field that the headers of large files have besides
_DATE = (1980, 1, 1, 0, 0, 0)


def write_archive(
    file: IO[bytes],
    value: Any,
    protocol: int = 2,
    progress: Callable[[int], object] = lambda count: None,
) -> None:
    """Write a value with its tensors. progress: gets the number of bytes that were just written."""
    pickled = io.BytesIO()
    pickler = Pickler(pickled, protocol)
    pickler.dump(value)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_info(archive, "data.pkl"), pickled.getvalue())
        archive.writestr(_info(archive, "byteorder"), b"little")
        for number, elements in enumerate(pickler.stored):
            is_large = elements.nbytes * 1.05 > zipfile.ZIP64_LIMIT
            info = _info(archive, f"data/{number}", is_large)
            with archive.open(info, "w", force_zip64=is_large) as out:
                for part in elements.parts():
                    out.write(part)
                    progress(len(part))
        archive.writestr(_info(archive, "version"), b"3\n")


def _info(archive: zipfile.ZipFile, name: str, is_large: bool = False) -> zipfile.ZipInfo:
    """A file's header; its length is such that the bytes behind it are aligned."""
    info = zipfile.ZipInfo(f"{_ROOT}/{name}", _DATE)
    assert archive.fp is not None
    start = archive.fp.tell() + _HEADER + len(info.filename) + 4 + is_large * _LARGE_FIELD
    padding = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + b"Z" * padding
    return info


class Archive:
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
        """Where the bytes of a file begin, and how many there are."""
        info = self._files.get(f"{self._root}/{name}")
        if info is None:
            raise _damaged(f"file not found: {self._root}/{name}")
        begin, is_plain = info.header_offset, info.compress_type == zipfile.ZIP_STORED
        self._file.seek(max(0, begin))
        head = self._file.read(_HEADER)
        if begin < 0 or len(head) < _HEADER or head[:4] != MAGIC or not is_plain:
            raise _damaged(f"{name} is compressed, or not where the archive says")
        start = begin + _HEADER + sum(struct.unpack("<HH", head[26:]))
        if start + info.file_size > self._size:
            raise _damaged(f"{name} ends behind the file's end")
        return start, info.file_size

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        start, size = self.place(name)
        self._file.seek(start)
        return self._file.read(size)


def _damaged(why: str) -> RuntimeError:
    return RuntimeError(f"PytorchStreamReader failed reading zip archive: {why}")
