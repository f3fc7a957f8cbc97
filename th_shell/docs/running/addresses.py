"""Moves what a process allocates from now on, so that the addresses differ between a page's runs.

The runs of a page are forks of one process: by themselves, equal programs get equal addresses in
them, and a page that prints one would seem to print the same always. Whatever the C library and
numpy would hand out first is taken here and kept, as long as the process lives. (What Lua allocates
differs anyway: each run has another engine.)
"""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np

__all__ = ["move_addresses", "randomize_programs"]

_NO_RANDOMIZE = 0x0040000  # of personality(2): programs get the same addresses each time
_ASK = 0xFFFFFFFF

#: Bytes of memory that is mapped, which is more than the C library allocates in its heap at once,
#: and other than the 64 MB that it maps for a thread, which one of the runs may have more than the
#: other; bytes of a block at the end of the heap, behind all that was free before.
_MAPPED, _AT_END = (61 << 20) + 13 * mmap.PAGESIZE, 16 << 20
#: Bytes of blocks of which one of each size is taken, and of larger ones, of which all are.
_SMALL, _LARGE = range(8, 1040, 16), [1 << bits for bits in range(19, 9, -1)]
#: numpy keeps freed memory of each size up to 1024 bytes. Few arrays have the sizes left out here.
_CACHED_BY_NUMPY = [*range(1, 64), *range(64, 1025, 8)]

_kept: list[object] = []


def move_addresses() -> None:
    """Take what would be allocated next. It is not used, and takes addresses rather than memory."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    _kept.append(mmap.mmap(-1, _MAPPED, flags=flags, prot=0))
    _kept.append([np.empty(size, np.uint8) for size in _CACHED_BY_NUMPY])
    allocate = ctypes.CDLL(None).malloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    end = allocate(_AT_END) or 0
    for size in _LARGE:
        while (allocate(size) or end) < end:
            pass
    for size in _SMALL:
        allocate(size)


def randomize_programs() -> None:
    """Let programs that this process executes have other addresses each time."""
    if sys.platform == "linux":
        personality = ctypes.CDLL(None).personality
        personality.argtypes = [ctypes.c_ulong]
        personality(personality(_ASK) & ~_NO_RANDOMIZE)
