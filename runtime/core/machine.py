"""The memory that the machine has left, and a limit that keeps the process within it.

Linux gives out memory that it does not have, and ends a process when the pages are written. With a
limit of the process's data (RLIMIT_DATA) an allocation that does not fit fails instead, whoever
makes it: a tensor, numpy for a result in between, or Lua for a string. Commands that the process
starts would inherit the limit, for as long as they run: while they are started, it is lifted.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from th_shell.runtime.core import cgroups

_KILOBYTE = 1 << 10
#: Bytes that are left to the system, besides one part in `_PART` of what is available.
_LEFT = 128 << 20
_PART = 50
#: Bytes beyond that for what must not fail: code that LuaJIT compiles, the stack of a thread.
_SMALL = 4 << 20

_MOMENT = 1.0  # seconds
_last = [-_MOMENT]  # when the limit was set

# The limit that the process has started with, which is never exceeded.
_at_start: list[tuple[int, int]] = []


def available(root: str = "") -> int | None:
    """The bytes that can be written without ending a process; None where nothing tells.

    root: a folder that has the system's files instead of the system.
    """
    fields = _fields(f"{root}/proc/meminfo", ("MemAvailable", "SwapFree"))
    if "MemAvailable" not in fields:
        return None
    free = fields["MemAvailable"] + fields.get("SwapFree", 0)
    left = cgroups.memory_left(root)
    return free if left is None else min(free, left)


def limit_data() -> int:
    """Let allocations fail from now on that do not fit into the memory there is now.

    Returns how many bytes fit. Memory that was allocated and not yet written counts as used.
    """
    _last[0] = time.monotonic()
    free = available()
    used = _fields("/proc/self/status", ("VmData", "RssAnon", "VmSwap"))
    if free is None or "VmData" not in used or "RssAnon" not in used:
        return sys.maxsize
    written, data = used["RssAnon"] + used.get("VmSwap", 0), used["VmData"]
    most = free + written - _LEFT - free // _PART
    _set(max(most, data) + _SMALL)
    return max(0, most - data)


def refresh_limit() -> None:
    """`limit_data`, unless that was done a moment ago."""
    if time.monotonic() - _last[0] > _MOMENT:
        limit_data()


def lift() -> int | None:
    """Put the limit back that the process has started with.

    Returns the other one, for `put_back`; None where there is no other.
    """
    if not _at_start:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, _at_start[0])
    return most


def put_back(most: int) -> None:
    """End what `lift` has begun."""
    _set(int(most))


@contextmanager
def without_limit() -> Iterator[None]:
    """Let commands that are started within the context have the limit that there was at first."""
    most = lift()
    try:
        yield
    finally:
        if most is not None:
            put_back(most)


def _set(most: int) -> None:
    with suppress(OSError, ValueError):
        if not _at_start:
            _at_start.append(resource.getrlimit(resource.RLIMIT_DATA))
        soft, hard = _at_start[0]
        if soft != resource.RLIM_INFINITY:
            most = min(most, soft)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _fields(path: str, names: tuple[str, ...]) -> dict[str, int]:
    """Fields of a file whose lines are like ``VmData:   360 kB``, in bytes."""
    fields = {}
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in names:
                fields[name] = int(value.split()[0]) * _KILOBYTE
    return fields
