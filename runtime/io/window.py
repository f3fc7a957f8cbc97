"""The part of a file that Lua sees: a C struct over the bytes at hand.

Lua reads and writes the bytes between ``at`` and ``stop`` (or ``room``) by itself and moves
``at``; for all else it asks Python, which finds in the same struct how far Lua has come.
Bounds are also held against the memory's own size, which a program may change at any time.
"""

from __future__ import annotations

import ctypes

__all__ = ["UNBOUNDED", "Window"]

#: ``room`` where only the memory's own size bounds what is written.
UNBOUNDED = float(1 << 62)


class Window(ctypes.Structure):
    """The struct. Positions count bytes of the memory from 0.

    memory: the mirror of the CharStorage that holds the bytes.
    at: the next byte. stop: end of what can be read. room: end of what can be written.
    The rest are flags (1: yes), but for long_size, the bytes of a long in a binary file
    (0: as in memory). direct: binary numbers are as in memory. stream: what was looked at is
    gone. Positions are doubles because that is what a number is in Lua.
    """

    memory: int
    at: float
    stop: float
    room: float
    opened: int
    readable: int
    writable: int
    quiet: int
    binary: int
    spacing: int
    failed: int
    swapped: int
    long_size: int
    direct: int
    stream: int

    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("at", ctypes.c_double),
        ("stop", ctypes.c_double),
        ("room", ctypes.c_double),
        ("opened", ctypes.c_int),
        ("readable", ctypes.c_int),
        ("writable", ctypes.c_int),
        ("quiet", ctypes.c_int),
        ("binary", ctypes.c_int),
        ("spacing", ctypes.c_int),
        ("failed", ctypes.c_int),
        ("swapped", ctypes.c_int),
        ("long_size", ctypes.c_int),
        ("direct", ctypes.c_int),
        ("stream", ctypes.c_int),
    )
