"""What the processes of runs ask of the operating system; elsewhere than on Linux, less is done."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from contextlib import suppress

__all__ = ["adopt_orphans", "end_children", "limit_memory"]

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5  # seconds in which what was killed must be gone
_AT_ONCE = 0.02  # seconds in which a process that has left nothing behind is gone


def limit_memory(most: int) -> None:
    """Let this process, and each that it starts, take no more bytes than it has now and these."""
    if not most:
        return
    try:
        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        now = 1 << 30
    _, highest = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + most if highest == resource.RLIM_INFINITY else min(now + most, highest)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def adopt_orphans() -> None:
    """Become the parent of processes whose parents have ended, so that they can be found."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(first: int = 0) -> None:
    """Kill all processes that this one and its children have started, and wait for them.

    first: a child that still runs, where there may be no other one. It is killed by itself before
    the others are looked for, which takes longer.
    """
    now = time.monotonic()
    until, look = now + _PATIENCE, now
    if first:
        _kill(first)
        look += _AT_ONCE
    while now < until:
        if now >= look:
            for child in _children():
                _kill(child)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)
        now = time.monotonic()


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def _children() -> list[int]:
    # What a killed child has started is a child of this process after that: see adopt_orphans.
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    found.append(int(name))
    return found
