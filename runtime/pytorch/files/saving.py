"""torch.save: writes a value to a zip file, as PyTorch does since 1.6.

The zip file has a pickle, and a file for the elements of each storage. Nothing is compressed.
Below one folder stand data.pkl, the pickle, and data/0, data/1 …, whose bytes begin at multiples of
64, so that they can be mapped into memory.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import IO, Any

from th_shell.runtime.io.replacement import Replacement
from th_shell.torch.files.pickling import Pickler

_ROOT = "archive"
_ALIGNMENT = 64
_PADDING_FIELD = 0x4246  # the extra field of a file's header in which the padding stands ("FB")
HEADER = 30  # bytes before the name in a file's header
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
    """Return a file's header; its length is such that the bytes behind it are aligned."""
    info = zipfile.ZipInfo(f"{_ROOT}/{name}", _DATE)
    assert archive.fp is not None
    start = archive.fp.tell() + HEADER + len(info.filename) + 4 + is_large * _LARGE_FIELD
    padding = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + b"Z" * padding
    return info


def save(
    obj: Any,
    f: str | os.PathLike[str] | IO[bytes],
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object with its tensors to a file, which `load`, and PyTorch, can read.

    f: a path, whose file is replaced when the new one is complete, or a binary file object. What
    shares memory does so in the file. Raises OSError where the file cannot be written, and
    RuntimeError for tensors of several types that share memory.
    """
    if pickle_module is not pickle:
        raise NotImplementedError(
            "torch.save writes with Python's pickle alone: leave pickle_module out"
        )
    if not _use_new_zipfile_serialization:
        raise NotImplementedError(
            "torch.save writes zip files alone, which PyTorch reads since 1.6"
        )
    if isinstance(f, (str, os.PathLike)):
        with Replacement(os.fsencode(f)) as replacement:
            with open(replacement.descriptor, "r+b", closefd=False) as file:
                write_archive(file, obj, pickle_protocol)
    elif hasattr(f, "write"):
        write_archive(f, obj, pickle_protocol)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
