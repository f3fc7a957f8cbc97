"""Limits of a container: processor time and memory of its Linux control groups.

Linux keeps them in files. Of a group of version 2: ``cpu.max`` (quota and period in microseconds,
or 'max'), ``memory.max`` and ``memory.current``. Of one of version 1: ``cpu.cfs_quota_us`` (-1:
none) and ``cpu.cfs_period_us``, ``memory.limit_in_bytes`` and ``memory.usage_in_bytes``. A limit
holds for the groups within a group, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

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
