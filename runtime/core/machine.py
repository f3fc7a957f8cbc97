"""The memory that the machine has left, and a limit that keeps the process within it.

Linux gives out memory that it does not have, and ends a process when the pages are written. With a
limit of the process's data (RLIMIT_DATA) an allocation that does not fit fails instead, whoever
makes it: a tensor, numpy for a result in between, or Lua for a string. Commands that the process
starts would inherit the limit, for as long as they run: while they are started, it is lifted.

A container has limits of its own: those of processor time and memory of its Linux control groups,
which Linux keeps in files. Of a group of version 2: ``cpu.max`` (quota and period in microseconds,
or 'max'), ``memory.max`` and ``memory.current``. Of one of version 1: ``cpu.cfs_quota_us`` (-1:
none) and ``cpu.cfs_period_us``, ``memory.limit_in_bytes`` and ``memory.usage_in_bytes``. A limit
holds for the groups within a group, too.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
    left = memory_left(root)
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


# -- control groups

_GROUPS = "proc/self/cgroup"
_MOUNT = "sys/fs/cgroup"
#: Where the groups of version 1 are that count processor time.
_MOUNTS = (f"{_MOUNT}/cpu", f"{_MOUNT}/cpu,cpuacct")
_MEMORY_MOUNTS = (f"{_MOUNT}/memory",)


def quota(root: str = "") -> float | None:
    """Return the limit of processor time, in processors; None where there is none.

    root: a folder that has the files instead of the system. In a container, the own group is
    often at the top of what can be seen, whatever its name says.
    """
    new, old = _groups(root, "cpu", _MOUNTS)
    quotas = [_quota(_words(f"{at}/cpu.max")) for at in new] + [_old_quota(at) for at in old]
    return min((value for value in quotas if value is not None), default=None)


def memory_left(root: str = "") -> int | None:
    """The bytes that this process may still use; None where there is no limit. root: as above.

    Pages of files that were read count as free, since the system gives them up for others.
    """
    new, old = _groups(root, "memory", _MEMORY_MOUNTS)
    rooms = [_room(f"{at}/memory.", "max", "current", "inactive_file") for at in new]
    names = "limit_in_bytes", "usage_in_bytes", "total_inactive_file"
    rooms += [_room(f"{at}/memory.", *names) for at in old]
    return min((value for value in rooms if value is not None), default=None)


def _groups(root: str, controller: str, mounts: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The folders of the groups of version 2 and of version 1 that limit this process."""
    new: list[str] = []
    old: list[str] = []
    for line in _lines(f"{root}/{_GROUPS}"):
        number, _, names = line.partition(":")
        controllers, _, name = names.partition(":")
        if number == "0" and not controllers:
            new += _folders(root, _MOUNT, name)
        elif controller in controllers.split(","):
            old += [at for mount in mounts for at in _folders(root, mount, name)]
    return new, old


def _room(prefix: str, limit: str, usage: str, reclaimable: str) -> int | None:
    try:
        (most,), (used,) = _words(prefix + limit), _words(prefix + usage)
        left = int(most) - int(used)
    except ValueError:  # 'max', or no such files
        return None
    return max(0, left + _field(prefix + "stat", reclaimable))


def _field(path: str, name: str) -> int:
    for line in _lines(path):
        key, _, value = line.partition(" ")
        if key == name and value.isdigit():
            return int(value)
    return 0


def _folders(root: str, mount: str, name: str) -> Iterator[str]:
    """A group's folder and those of the groups that it is in."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    for count in range(len(parts), -1, -1):
        yield "/".join((root, mount, *parts[:count]))


def _old_quota(folder: str) -> float | None:
    return _quota(_words(f"{folder}/cpu.cfs_quota_us") + _words(f"{folder}/cpu.cfs_period_us"))


def _quota(words: list[str]) -> float | None:
    try:
        most, period = map(int, words)
    except ValueError:  # 'max', or no such files
        return None
    return most / period if most > 0 and period > 0 else None


def _words(path: str) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: str) -> list[str]:
    with suppress(OSError, UnicodeDecodeError):
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    return []
