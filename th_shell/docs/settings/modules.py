"""The Lua modules of a page's own project, and those beside the page: `require` finds them.

It looks for them last, since a part of a project may have the name of a package that it needs. So a
module is found as in a shell that is started in the page's folder, or in the project's: the nearest
one from the page's upwards that has a repository of Git, or a rockspec.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

from th_shell.docs.settings.settings import Configuration

_FOLDERS = ("", "lua/", "lib/", "src/")


def patterns_of(top: Path) -> list[str]:
    """Return patterns, relative to a project's folder, that find its Lua modules."""
    patterns = []
    for folder in _FOLDERS:
        if any(top.glob(f"{folder}**/*.lua" if folder else "*.lua")):
            patterns.append(f"{folder}?.lua")
        if any(top.glob(f"{folder}*/init.lua")):
            patterns.append(f"{folder}?/init.lua")
    return sorted(patterns)


def with_own_modules(rules: Configuration, page: Path, text: str) -> Configuration:
    """Return the rules of a page: `require` finds the modules beside it and those of its project.

    Rules that say where modules are stay, and those of a page that requires none. In a sandbox the
    page may read these modules, and nothing else of the project.
    """
    if rules.lua_path is not None or "require" not in text:
        return rules
    folder = Path(os.path.abspath(page)).parent
    inside = takewhile(lambda above: above != Path.home(), (folder, *folder.parents))
    folders = dict.fromkeys([folder, *islice(filter(_is_project, inside), 1)])
    patterns = [f"{place}/{pattern}" for place in folders for pattern in patterns_of(place)]
    if not patterns:
        return rules
    real = [
        str(path)
        for place in folders
        for path in map(Path.resolve, _readable(place))
        if path.is_relative_to(place.resolve())  # a link may lead anywhere
    ]
    read = [*rules.sandbox_read, *real]
    return replace(rules, own_path=";".join(patterns), sandbox_read=read)


def _is_project(folder: Path) -> bool:
    return (folder / ".git").exists() or any(folder.glob("*.rockspec"))


def _readable(place: Path) -> Iterator[Path]:
    """Yield the files and folders of modules in a place, and nothing else that it has."""
    for pattern in patterns_of(place):
        if folder := pattern.partition("?")[0]:
            yield place / folder
        else:
            found = place.glob(pattern.replace("?", "*"))
            yield from (path.parent if path.name == "init.lua" else path for path in found)
