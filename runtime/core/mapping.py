"""Storages over mapped files.

Manual: Storage, torch.TYPEStorage(filename [, shared [, size [, sharedMem]]]).
"""

from __future__ import annotations

import mmap
import os
import stat
from collections import Counter
from contextlib import suppress
from weakref import finalize

import numpy as np

from runtime.core import system
from runtime.core.errors import TorchError
from runtime.core.storage import Storage

__all__ = ["is_mapped", "map_file"]

_SHARED_MEMORY = b"/dev/shm"

# Device and inode of the files that storages are over, and how many are.
_mapped: Counter[tuple[int, int]] = Counter()


def map_file(
    cls: type[Storage], name: bytes, size: int, *, shared: bool, shared_memory: bool
) -> Storage:
    """A storage of ``size`` elements (0: as many as the file holds whole) over a file.

    shared: changes reach the file, which is created and extended as needed; else they stay
    private and the file is only read. shared_memory: the file lives in shared memory.
    Raises TorchError, with the file untouched, where it is missing, short or unreadable.
    """
    path = _shared_memory_path(name) if shared_memory else name
    name = name.partition(b"\0")[0]  # as C reads it
    shown = name.decode("utf-8", "surrogateescape")
    nbytes = size * cls.dtype.size
    if nbytes < 0:
        raise _cannot_map(0)
    descriptor = _open(path, shown, shared, shared_memory)
    try:
        nbytes = _settle_size(descriptor, shown, nbytes, shared)
        count = nbytes // cls.dtype.size
        if nbytes == 0:
            raise _cannot_map(0)
        if count == 0:
            return cls(np.empty(0, cls.dtype.numpy), owner=path)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        memory = mmap.mmap(descriptor, nbytes, access=access)
        _note(memory, descriptor)
        if shared_memory:
            # Torch7: the shared memory object goes with the first storage over it that goes.
            finalize(memory, _unlink, path)
    except (OSError, ValueError) as error:
        raise _cannot_map(nbytes) from error
    finally:
        os.close(descriptor)
    return cls(np.frombuffer(memory, cls.dtype.numpy, count), owner=memory)


def is_mapped(descriptor: int) -> bool:
    """Whether a storage is over an open file: reading what is cut off ends the process."""
    if not _mapped:
        return False
    status = os.fstat(descriptor)
    return _mapped[status.st_dev, status.st_ino] > 0


def _note(memory: mmap.mmap, descriptor: int) -> None:
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    _mapped[key] += 1
    finalize(memory, _forget, key)


def _forget(key: tuple[int, int]) -> None:
    _mapped[key] -= 1
    if not _mapped[key]:
        del _mapped[key]


def _shared_memory_path(name: bytes) -> bytes:
    """Where an object of shared memory lies; as shm_open, which knows no folders."""
    base = name.lstrip(b"/")
    if not base or b"/" in base:
        raise _cannot_open(name.decode("utf-8", "surrogateescape"), True, True)
    return os.path.join(_SHARED_MEMORY, base)


def _unlink(path: bytes) -> None:
    with suppress(OSError):
        os.unlink(path)


def _cannot_map(nbytes: int) -> TorchError:
    return TorchError(f"$ Torch: unable to mmap memory: you tried to mmap {nbytes >> 30}GB.")


def _open(path: bytes, shown: str, shared: bool, shared_memory: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    if shared_memory:
        flags |= os.O_NOFOLLOW
    try:
        return system.open_descriptor(path, flags, 0o600)
    except OSError:
        raise _cannot_open(shown, shared, shared_memory) from None


def _cannot_open(shown: str, shared: bool, shared_memory: bool) -> TorchError:
    what = "shared memory object" if shared_memory else "file"
    mode = "read-write" if shared else "read-only"
    return TorchError(f"unable to open {what} <{shown}> in {mode} mode")


def _settle_size(descriptor: int, shown: str, nbytes: int, shared: bool) -> int:
    """The number of bytes to map; a shared file is extended to it, and has room for it."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        raise TorchError(f"unable to stat the file <{shown}>") from None
    nbytes = nbytes or status.st_size
    if nbytes >= 1 << 62:
        raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
    if nbytes > status.st_size and not shared:
        raise TorchError(
            f"file <{shown}> size is smaller than the required mapping size <{nbytes}>"
        )
    if shared and (nbytes > status.st_size or stat.S_ISREG(status.st_mode)):
        try:
            # Writing to what a full disk has no room for would end the process.
            system.reserve(descriptor, nbytes)
        except OSError:
            raise TorchError(f"unable to resize file <{shown}> to the right size") from None
    return nbytes
