"""The Lua modules of a page's own project, and those beside the page: `require` finds them.

It looks for them last, since a part of a project may have the name of a package that it needs. So a
module is found as in a shell that is started in the page's folder, or in the project's: the nearest
one from the page's upwards that has a repository of Git, or a rockspec.
"""

from __future__ import annotations

import os
from dataclasses import replace
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
    page may read the project's folder, or where there is none, the modules beside it.
    """
    if rules.lua_path is not None or "require" not in text:
        return rules
    folder = Path(os.path.abspath(page)).parent
    top = next(filter(_is_project, (folder, *folder.parents)), None)
    folders = dict.fromkeys([folder, top or folder])
    patterns = [f"{place}/{pattern}" for place in folders for pattern in patterns_of(place)]
    if not patterns:
        return rules
    beside = [
        path for pattern in patterns_of(folder) for path in folder.glob(pattern.replace("?", "*"))
    ]
    read = [*rules.sandbox_read, *map(str, [top] if top else beside)]
    return replace(rules, own_path=";".join(patterns), sandbox_read=read)


def _is_project(folder: Path) -> bool:
    return (folder / ".git").exists() or any(folder.glob("*.rockspec"))
