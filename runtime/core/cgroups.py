"""The part of the processors' time that a container gets: the quota of its control groups.

Linux keeps it in files: ``cpu.max`` of a group of version 2 (quota and period in microseconds, or
'max'), ``cpu.cfs_quota_us`` (-1: none) and ``cpu.cfs_period_us`` of one of version 1. A quota
holds for the groups within a group, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

__all__ = ["quota"]

_GROUPS = "proc/self/cgroup"
_MOUNT = "sys/fs/cgroup"
#: Where the groups of version 1 are that count processor time.
_MOUNTS = (f"{_MOUNT}/cpu", f"{_MOUNT}/cpu,cpuacct")


def quota(root: str = "") -> float | None:
    """How many processors' time this process may use; None where there is no limit.

    root: a folder that has the files instead of the system. In a container, the own group is
    often at the top of what can be seen, whatever its name says.
    """
    found = []
    for line in _lines(f"{root}/{_GROUPS}"):
        number, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        if number == "0" and not controllers:
            found += [_quota(_words(f"{at}/cpu.max")) for at in _folders(root, _MOUNT, name)]
        elif "cpu" in controllers.split(","):
            found += [_old_quota(at) for mount in _MOUNTS for at in _folders(root, mount, name)]
    return min((value for value in found if value is not None), default=None)


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
