"""The Lua modules of a page's own project, and those beside the page: `require` finds them.

It looks for them last, since a part of a project may have the name of a package that it needs. So a
module is found as in a shell that is started in the page's folder, or in the project's: the nearest
one from the page's upwards that has a repository of Git, or a rockspec.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

from th_shell.docs.reading.examples import LUA
from th_shell.docs.reading.page import Page
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


def with_own_modules(rules: Configuration, page: Page) -> Configuration:
    """Return the rules of a page, with which `require` finds its project's modules.

    Rules that say where modules are stay as they are, and those of a page whose Lua requires none.
    In a sandbox the page may read these modules, and nothing else of the project.
    """
    requires = any(e.language == LUA and "require" in e.source for e in page.examples)
    if rules.lua_path is not None or not requires:
        return rules  # without a look at the folders, which may have many files
    folder = Path(os.path.abspath(page.path)).parent
    inside = takewhile(lambda above: above != Path.home(), (folder, *folder.parents))
    places = dict.fromkeys([folder, *islice(filter(_is_project, inside), 1)])
    found = [(place, pattern) for place in places for pattern in patterns_of(place)]
    if not found:
        return rules
    real = [
        str(path)
        for place, pattern in found
        for path in map(Path.resolve, _readable(place, pattern))
        if path.is_relative_to(place.resolve())  # a link may lead anywhere
    ]
    own_path = ";".join(f"{place}/{pattern}" for place, pattern in found)
    return replace(rules, own_path=own_path, sandbox_read=[*rules.sandbox_read, *real])


def _is_project(folder: Path) -> bool:
    return (folder / ".git").exists() or any(folder.glob("*.rockspec"))


def _readable(place: Path, pattern: str) -> list[Path]:
    """Return the files and folders in which a pattern of a place finds modules."""
    if folder := pattern.partition("?")[0]:
        return [place / folder]
    files = place.glob(pattern.replace("?", "*"))
    return [path.parent if path.name == "init.lua" else path for path in files]
