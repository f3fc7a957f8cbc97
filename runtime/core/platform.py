"""Functions that the runtime needs of the operating system and the C library, and substitutes.

What there is no way around is in `missing`: `require` is asked before anything else is loaded.
The rest is asked for here and nowhere else:

    the C library's functions   `c_function` is None
    mallopt, malloc_trim        memory is kept and given back as the C library likes
    sched_getaffinity           all processors may be used
    /proc/stat                  nobody else seems to be busy

Threads are in lua/parallel/thread_pool.lua (without pthread_* and sched_yield, one thread does
all work), commands in system.py.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from functools import cache
from typing import Any

_FUNCTIONS = (
    (os, ("fchmod", "posix_spawn", "pread", "pwrite", "uname", "waitpid")),
    (signal, ("pthread_sigmask", "sigpending", "sigwait")),
)


def missing() -> str | None:
    """Return one line that says what this system lacks, or None where nothing is missing.

    LuaJIT is not among it: the engine finds that out.
    """
    if sys.platform == "win32":
        return "Windows lacks what th needs of Unix (such as posix_spawn); it runs in WSL"
    if sys.implementation.name != "cpython":
        return f"th needs CPython; this is {sys.implementation.name}"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "th needs a processor with addresses of 64 bits, low byte first"
    names = [
        f"{m.__name__}.{n}"
        for m, names_there in _FUNCTIONS
        for n in names_there
        if not hasattr(m, n)
    ]
    return f"th needs functions that this system has not: {', '.join(names)}" if names else None


def require() -> None:
    """Raise ImportError where something is missing."""
    problem = missing()
    if problem is not None:
        raise ImportError(problem)


def descriptor_path(descriptor: int) -> str:
    """Return a path to an open file, in this process and in those that inherit it."""
    return f"/proc/self/fd/{descriptor}"


# -- the C library


@cache
def c_function(name: str) -> Any | None:
    """Return a function of the libraries that the process has loaded; None if there is none."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None


_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # names of mallopt's parameters in malloc.h


def keep_pages() -> None:
    """Let the C library keep freed memory for the next temporary."""
    mallopt = c_function("mallopt")
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 << 20)
        mallopt(_TRIM_THRESHOLD, 64 << 20)


def give_pages_back() -> None:
    """Let the C library give freed memory back to the system."""
    malloc_trim = c_function("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


# -- processors


def allowed_processors() -> int:
    """Return the number of processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_seconds() -> float:
    """Processor seconds of all processes since the system started; 0 where it does not tell."""
    try:
        with open("/proc/stat", "rb") as file:
            user, nice, system = file.readline().split()[1:4]
    except OSError:
        return 0.0
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


# -- files


def is_of_system(folder: bytes) -> bool:
    """Tell whether a folder holds information of the system and no files (Linux: /proc)."""
    return folder.startswith(b"/proc/")
