"""The settings of a folder of pages: th-docs.toml, or `[tool.th-docs]` in pyproject.toml.

The file that counts for a page is in the nearest folder from the page's upwards that has one. It
says how all the pages are run, and, in each table of `pages`, how those are that its pattern
matches:

    timeout = 60
    lua_path = ["lib/?.lua", "lib/?/init.lua"]

    [[pages]]
    match = "nn/**/*.md"
    prelude = "nn.lua"
    atol = 1e-6

Names of files are relative to the folder of the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.settings.options import (
    OF_EXAMPLES,
    OPTIONS,
    layer_of,
    read_options,
    read_toml,
    tables_in,
)
from th_shell.docs.settings.setting_readers import Command
from th_shell.docs.settings.settings import NOTHING, Layer, Said, SettingsError
from th_shell.files import read_file

#: The name of a folder's file of settings.
FILE = "th-docs.toml"
_SHARED_FILE = "pyproject.toml"


@dataclass(frozen=True)
class Configuration(Said):
    """How pages are run and judged; None: nothing is said.

    layer: what is said of each example. engine: the commands that run the examples of languages.
    prelude: code that runs before a page, by languages. lua_path, lua_cpath: where `require`
    searches before it does where it always does. environment: variables of the engines. memory:
    bytes that a page may take. errata: the folder of the files with errata and verdicts, which have
    the paths there that the pages have below `root`.
    min_checked: the share of a page's examples that must be checked. sandbox: whether engines may
    use the page's folder alone; sandbox_read: files and folders that they may read even so.
    language: that of blocks which do not tell theirs. torch: one of `TORCHES`, which Python without
    an engine of its own imports.
    """

    layer: Layer = NOTHING
    engine: Mapping[str, Command] = field(default_factory=dict)
    prelude: Mapping[str, str] = field(default_factory=dict)
    lua_path: str | None = None
    lua_cpath: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: int | None = None
    errata: Path | None = None
    root: Path | None = None
    min_checked: float | None = None
    sandbox: bool | None = None
    sandbox_read: Sequence[str] = ()
    language: str | None = None
    torch: str | None = None


def configuration(page: Path, command_line: Configuration) -> Configuration:
    """How a page is run: as the command line says, and the file of its folder.

    Raises SettingsError.
    """
    page = Path(os.path.abspath(page))
    for folder in page.parents:
        file = _read(folder)
        if file:
            return command_line.over(file.of(page))
    return command_line


class _File(NamedTuple):
    """A file of settings: what it says of all pages of its folder, and of some."""

    folder: Path
    every: Configuration
    some: Sequence[tuple[str, Configuration]]

    def of(self, page: Path) -> Configuration:
        """What is said of a page."""
        found = self.every
        parts = page.relative_to(self.folder).parts
        for pattern, said in self.some:
            if _matches(parts, pattern.split("/")):
                found = said.over(found)
        return found


def _read(folder: Path) -> _File | None:
    """The file of settings of a folder; None if it has none. Raises SettingsError."""
    own, shared = folder / FILE, folder / _SHARED_FILE
    if own.is_file():
        return _file(folder, read_toml(own), str(own))
    if shared.is_file() and b"th-docs" in read_file(shared):
        tool = read_toml(shared).get("tool", {})
        table = tool.get("th-docs") if isinstance(tool, Mapping) else None
        if table is not None:
            return _file(folder, table, f"{shared}: tool.th-docs")
    return None


def _file(folder: Path, table: object, place: str) -> _File:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{place}: not a table")
    pages = tables_in(table, "pages", place)
    said = {key: value for key, value in table.items() if key != "pages"}
    some = [
        _some(folder, dict(one), f"{place}: pages {number}") for number, one in enumerate(pages, 1)
    ]
    return _File(folder, _configuration(folder, said, place), some)


def _some(folder: Path, table: dict[str, Any], place: str) -> tuple[str, Configuration]:
    pattern = table.pop("match", None)
    if not isinstance(pattern, str) or not pattern:
        raise SettingsError(f"{place}: match: not a pattern of names of pages")
    if pattern.startswith("/"):
        raise SettingsError(f"{place}: match: not relative to the folder: '{pattern}'")
    try:
        is_used = any(folder.glob(pattern))
    except ValueError as error:
        raise SettingsError(f"{place}: match: {error}") from None
    if not is_used:
        raise SettingsError(f"{place}: match: no file is named like '{pattern}'")
    return pattern, _configuration(folder, table, place)


def _configuration(folder: Path, table: Mapping[str, object], place: str) -> Configuration:
    said = said_in(read_options(table, place, OPTIONS, folder), place)
    return replace(said, root=folder) if said.errata else said


def said_in(values: Mapping[str, Any], place: str) -> Configuration:
    """What some values say, by the names of their options. place: where they are said."""
    others = {name: value for name, value in values.items() if name not in OF_EXAMPLES}
    return Configuration(layer_of(values, place), **others)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
