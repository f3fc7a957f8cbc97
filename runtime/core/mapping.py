"""Storages whose elements are the bytes of a file, mapped into memory.

Manual: Storage, torch.TYPEStorage(filename [, shared [, size [, sharedMem]]]).
"""

import mmap
import os
import stat
from collections import Counter
from contextlib import suppress
from weakref import finalize

import numpy as np

from th_shell.runtime.core import system
from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.storage import Storage

_SHARED_MEMORY = b"/dev/shm"

# How many storages map a file, by the file's device and inode.
_mapped: Counter[tuple[int, int]] = Counter()


def map_file(
    cls: type[Storage], name: bytes, size: int, *, shared: bool, shared_memory: bool
) -> Storage:
    """Return a storage of ``size`` elements that maps a file; size 0 means all its elements.

    shared: changes of elements reach the file, which is created and extended where needed;
    otherwise the file is only read, and changes stay in this storage. shared_memory: name is that
    of an object in shared memory, not a path.
    Raises TorchError where the file is missing, too short or cannot be opened or mapped; the
    file's bytes are then as they were.
    """
    path = _shared_memory_path(name) if shared_memory else name
    name = name.partition(b"\0")[0]  # C's strings end at a zero byte
    label = printable(name)
    nbytes = size * cls.dtype.size
    if nbytes < 0:
        raise _cannot_map(0)
    descriptor = _open(path, label, shared, shared_memory)
    try:
        nbytes = _settle_size(descriptor, label, nbytes, shared)
        count = nbytes // cls.dtype.size
        if nbytes == 0:
            raise _cannot_map(0)
        if count == 0:
            return cls(np.empty(0, cls.dtype.numpy), owner=path)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        memory = mmap.mmap(descriptor, nbytes, access=access)
        _count_mapping(memory, descriptor)
        if shared_memory:
            # Torch7: the object is removed when the first storage that maps it is freed, even if
            # others still do.
            finalize(memory, _unlink, path)
    except (OSError, ValueError) as error:
        raise _cannot_map(nbytes) from error
    finally:
        os.close(descriptor)
    return cls(np.frombuffer(memory, cls.dtype.numpy, count), owner=memory)


def is_mapped(descriptor: int) -> bool:
    """Tell whether a storage maps an open file.

    Such a file must not be made shorter: the system ends a process that uses mapped memory
    beyond the file's end.
    """
    if not _mapped:
        return False
    status = os.fstat(descriptor)
    return _mapped[status.st_dev, status.st_ino] > 0


def _count_mapping(memory: mmap.mmap, descriptor: int) -> None:
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    _mapped[key] += 1
    finalize(memory, _uncount_mapping, key)


def _uncount_mapping(key: tuple[int, int]) -> None:
    _mapped[key] -= 1
    if not _mapped[key]:
        del _mapped[key]


def _shared_memory_path(name: bytes) -> bytes:
    """Return the path of an object in shared memory; refuse names with folders, as shm_open."""
    base = name.lstrip(b"/")
    if not base or b"/" in base:
        raise _cannot_open(printable(name), True, True)
    return os.path.join(_SHARED_MEMORY, base)


def _unlink(path: bytes) -> None:
    with suppress(OSError):
        os.unlink(path)


def _cannot_map(nbytes: int) -> TorchError:
    return TorchError(f"$ Torch: unable to mmap memory: you tried to mmap {nbytes >> 30}GB.")


def _open(path: bytes, label: str, shared: bool, shared_memory: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    if shared_memory:
        flags |= os.O_NOFOLLOW
    try:
        return system.open_descriptor(path, flags, 0o600)
    except OSError:
        raise _cannot_open(label, shared, shared_memory) from None


def _cannot_open(label: str, shared: bool, shared_memory: bool) -> TorchError:
    what = "shared memory object" if shared_memory else "file"
    mode = "read-write" if shared else "read-only"
    return TorchError(f"unable to open {what} <{label}> in {mode} mode")


def _settle_size(descriptor: int, label: str, nbytes: int, shared: bool) -> int:
    """Return the number of bytes to map; a shared file is extended to it, with room on its disk."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        raise TorchError(f"unable to stat the file <{label}>") from None
    nbytes = nbytes or status.st_size
    if nbytes >= 1 << 62:
        raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
    if nbytes > status.st_size and not shared:
        raise TorchError(
            f"file <{label}> size is smaller than the required mapping size <{nbytes}>"
        )
    if shared and (nbytes > status.st_size or stat.S_ISREG(status.st_mode)):
        try:
            # The system ends a process that writes to mapped memory for which a full disk has no
            # room.
            system.reserve(descriptor, nbytes)
        except OSError:
            raise TorchError(f"unable to resize file <{label}> to the right size") from None
    return nbytes
