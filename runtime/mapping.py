"""Storages over mapped files.

Manual: Storage, torch.TYPEStorage(filename [, shared [, size [, sharedMem]]]).
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from weakref import finalize

import numpy as np

from runtime.errors import TorchError
from runtime.storage import Storage

__all__ = ["map_file"]

_SHARED_MEMORY = b"/dev/shm"


def map_file(
    cls: type[Storage], name: bytes, size: int, *, shared: bool, shared_memory: bool
) -> Storage:
    """A storage of ``size`` elements (0: as many as the file holds whole) over a file.

    shared: changes reach the file, which is created and extended as needed; else they stay
    private and the file is only read. shared_memory: the file lives in shared memory.
    Raises TorchError, with the file untouched, where it is missing, short or unreadable.
    """
    path = os.path.join(_SHARED_MEMORY, name.lstrip(b"/")) if shared_memory else name
    shown = name.decode(errors="replace")
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
        if shared_memory:
            # Torch7: the shared memory object goes with the first storage over it that goes.
            finalize(memory, _unlink, path)
    except (OSError, ValueError) as error:
        raise _cannot_map(nbytes) from error
    finally:
        os.close(descriptor)
    return cls(np.frombuffer(memory, cls.dtype.numpy, count), owner=memory)


def _unlink(path: bytes) -> None:
    with suppress(OSError):
        os.unlink(path)


def _cannot_map(nbytes: int) -> TorchError:
    return TorchError(f"$ Torch: unable to mmap memory: you tried to mmap {nbytes >> 30}GB.")


def _open(path: bytes, shown: str, shared: bool, shared_memory: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        return os.open(path, flags | os.O_CLOEXEC, 0o600)
    except OSError:
        what = "shared memory object" if shared_memory else "file"
        mode = "read-write" if shared else "read-only"
        raise TorchError(f"unable to open {what} <{shown}> in {mode} mode") from None


def _settle_size(descriptor: int, shown: str, nbytes: int, shared: bool) -> int:
    """The number of bytes to map; a shared file is extended to it."""
    try:
        present = os.fstat(descriptor).st_size
    except OSError:
        raise TorchError(f"unable to stat the file <{shown}>") from None
    if nbytes == 0:
        return present
    if nbytes > present:
        if not shared:
            raise TorchError(
                f"file <{shown}> size is smaller than the required mapping size <{nbytes}>"
            )
        try:
            os.ftruncate(descriptor, nbytes)
        except OSError:
            raise TorchError(f"unable to resize file <{shown}> to the right size") from None
    return nbytes
