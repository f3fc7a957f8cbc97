"""``Window``: the C struct with a file's state that Lua and Python share.

Lua reads the bytes from ``at`` to ``stop``, and writes those from ``at`` to ``room``, by itself,
and moves ``at``. For other bytes it calls Python, which reads in the same struct how far Lua has
got. Both also check positions against the size of the memory, which a program may change at any
time.
"""

from __future__ import annotations

import ctypes

from th_shell.runtime.core.c_structs import WINDOW

#: The value of ``room`` where only the size of the memory limits what Lua may write.
UNBOUNDED = float(1 << 62)


class Window(ctypes.Structure):
    """The struct. Positions count bytes of the memory from 0; they are doubles, as Lua's numbers.

    memory: the mirror of the CharStorage that has the bytes (see core/storage.py).
    at: the position of the next byte. stop: the end of the bytes that can be read. room: the end
    of those that can be written.
    long_size: the bytes of a long in a binary file; 0 for as many as in memory.
    The other members are flags, 1 for true. readable, writable: the mode allows it. quiet: errors
    set failed instead of being raised. spacing: text has spaces and newlines between numbers.
    swapped: a binary file has the other byte order. direct: binary numbers are as in memory, so
    that Lua can read them. stream: white space that was read before something that is no number
    is not read again.
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

    _fields_ = WINDOW.fields
