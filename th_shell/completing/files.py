"""What completes in strings and commands: names of files, of programs and of Lua's modules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator


def files(path: str, only_folders: bool = False) -> Iterator[tuple[str, bool]]:
    """The names that begin as the last part of a path does, and whether each is a folder."""
    folder, prefix = os.path.split(os.path.expanduser(path) if path.startswith("~/") else path)
    for name, is_folder in _entries(folder or "."):
        hidden = name.startswith(".") and not prefix
        if name.startswith(prefix) and not hidden and (is_folder or not only_folders):
            yield name, is_folder


def programs(prefix: str) -> list[str]:
    """The programs on $PATH that begin with some text."""
    found = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name, is_folder in _entries(folder or "."):
            if name.startswith(prefix) and not is_folder:
                if os.access(os.path.join(folder, name), os.X_OK):
                    found.add(name)
    return sorted(found)


def modules(prefix: str, patterns: str) -> list[str]:
    """The modules that `require` finds by `package.path` or `cpath` and that begin with a text.

    A folder in which there may be more is listed with a dot behind it.
    """
    parent, _, last = prefix.rpartition(".")
    found = set()
    for pattern in patterns.split(";"):
        before, mark, behind = pattern.partition("?")
        if mark:
            folder = before + parent.replace(".", "/")
            for name in _modules_in(folder, "" if parent else before.rpartition("/")[2], behind):
                if name.startswith(last):
                    found.add(f"{parent}.{name}" if parent else name)
    return sorted(found)


def _modules_in(folder: str, start: str, behind: str) -> Iterator[str]:
    """The modules in a folder whose files are start, name and behind: '', 'm' and '.lua'."""
    if start:
        folder = folder[: -len(start)]
    for name, is_folder in _entries(folder or "."):
        if name.startswith(".") or not name.startswith(start):
            continue
        if not is_folder:
            if name.endswith(behind) and len(name) > len(start + behind):
                yield name[len(start) : len(name) - len(behind)]
        elif os.path.isfile(os.path.join(folder, name) + behind):
            yield name[len(start) :]
        elif re.fullmatch(r"\w+", name) and _has_modules(os.path.join(folder, name)):
            yield f"{name[len(start) :]}."


def _has_modules(folder: str) -> bool:
    return any(name.endswith((".lua", ".so")) for name, _ in _entries(folder))


def _entries(folder: str) -> list[tuple[str, bool]]:
    """The names in a folder, sorted, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return []
