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

_NO_RANDOMIZE = 0x0040000  # of personality(2): programs get the same addresses each time
_ASK = 0xFFFFFFFF

#: Bytes of a block at the end of the heap, behind all that was free before.
_AT_END = 16 << 20
#: Bytes that are mapped below all other mappings; those of a gap between mappings that is filled,
#: at most: what is larger is no gap, but the room that all mappings are in.
_BELOW, _MOST_GAP = (61 << 20) + 13 * mmap.PAGESIZE, 1 << 40
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
#: How often the gaps are read, at most: one that cannot be filled must not keep the process.
_MOST_READINGS = 8
#: Bytes of blocks of which all that are free are taken, or so many: the block at the end may be
#: mapped, and no end of the heap.
_SIZES = [*(1 << bits for bits in range(19, 9, -1)), *range(1016, 0, -16)]
_MOST_OF_A_SIZE = 32
#: numpy keeps freed memory of each size up to 1024 bytes. Few arrays have the sizes left out here.
_CACHED_BY_NUMPY = [*range(1, 64), *range(64, 1025, 8)]

_kept: list[object] = []


def move_addresses() -> None:
    """Take what would be allocated next. It is not used, and takes addresses rather than memory."""
    _fill_gaps()
    _kept.append(mmap.mmap(-1, _BELOW, flags=_FLAGS, prot=0))
    _kept.append([np.empty(size, np.uint8) for size in _CACHED_BY_NUMPY])
    allocate = ctypes.CDLL(None).malloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    end = allocate(_AT_END) or 0
    for size in _SIZES:
        for _ in range(_MOST_OF_A_SIZE):
            if (allocate(size) or end) >= end:  # no more that is free: it is taken from the end
                break


def _fill_gaps() -> None:
    """Map the gaps between mappings: what is mapped next is below all of them.

    Python may map memory of its own while it reads where the gaps are: a gap that is smaller then
    is not filled at first, and is found once more.
    """
    library = ctypes.CDLL(None)
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    for _ in range(_MOST_READINGS):
        gaps = _gaps()
        if not gaps:
            break
        for start, end in gaps:
            library.mmap(start, end - start, 0, _FLAGS, -1, 0)  # there, if nothing else is


def _gaps() -> list[tuple[int, int]]:
    """The gaps between mappings, but for those that the stack and the heap may grow into."""
    try:
        with open("/proc/self/maps", "rb") as file:
            lines = file.read().splitlines()
    except OSError:  # not Linux
        return []
    found = []
    places = [tuple(int(at, 16) for at in line.split(b" ", 1)[0].split(b"-")) for line in lines]
    for i, (_, start) in enumerate(places[:-1]):
        end = places[i + 1][0]
        grows = any(line.endswith((b"[heap]", b"[stack]")) for line in lines[i : i + 2])
        if 0 < end - start < _MOST_GAP and not grows:
            found.append((start, end))
    return found


def randomize_programs() -> None:
    """Let programs that this process executes have other addresses each time."""
    if sys.platform == "linux":
        personality = ctypes.CDLL(None).personality
        personality.argtypes = [ctypes.c_ulong]
        personality(personality(_ASK) & ~_NO_RANDOMIZE)
