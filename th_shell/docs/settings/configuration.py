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
    Command,
    layer_of,
    read_options,
    read_toml,
    tables_in,
)
from th_shell.docs.settings.settings import NOTHING, Layer, Partial, SettingsError
from th_shell.files import read_file

#: The name of a folder's file of settings.
FILE = "th-docs.toml"
_SHARED_FILE = "pyproject.toml"


@dataclass(frozen=True)
class Configuration(Partial):
    """The rules by which pages are run and judged; None: not set."""

    #: Settings of each example.
    layer: Layer = NOTHING
    #: The commands that run the examples, by languages.
    engine: Mapping[str, Command] = field(default_factory=dict)
    #: Code that runs before a page, by languages.
    prelude: Mapping[str, str] = field(default_factory=dict)
    #: The paths that `require` searches before its usual ones.
    lua_path: str | None = None
    #: The paths that `require` searches first for C libraries.
    lua_cpath: str | None = None
    #: Variables of the engines.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Bytes that a page may take.
    memory: int | None = None
    #: The folder of the sidecar files, which have the paths there that the pages have below `root`.
    errata: Path | None = None
    root: Path | None = None
    #: The share of a page's examples that must be checked.
    min_checked: float | None = None
    #: True if engines may use the page's folder alone.
    sandbox: bool | None = None
    #: Files and folders that engines may read even so.
    sandbox_read: Sequence[str] = ()
    #: The language of blocks which do not name theirs.
    language: str | None = None
    #: One of `TORCHES`, which Python without an engine of its own imports.
    torch: str | None = None


def configuration(page: Path, command_line: Configuration) -> Configuration:
    """Return the rules of a page: those of the command line over those of its folder's file.

    Raises SettingsError.
    """
    page = Path(os.path.abspath(page))
    for folder in page.parents:
        file = _read(folder)
        if file:
            return command_line.over(file.of(page))
    return command_line


class _File(NamedTuple):
    """A file of settings."""

    folder: Path
    #: The rules for all pages of the folder.
    every: Configuration
    #: The rules for pages whose names match a pattern.
    some: Sequence[tuple[str, Configuration]]

    def of(self, page: Path) -> Configuration:
        """Return the rules for a page of the folder."""
        rules = self.every
        parts = page.relative_to(self.folder).parts
        for pattern, page_rules in self.some:
            if _matches(parts, pattern.split("/")):
                rules = page_rules.over(rules)
        return rules


def _read(folder: Path) -> _File | None:
    """Return the file of settings of a folder; None if it has none. Raises SettingsError."""
    th_docs_file, shared = folder / FILE, folder / _SHARED_FILE
    if th_docs_file.is_file():
        return _file(folder, read_toml(th_docs_file), str(th_docs_file))
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
    rules = {key: value for key, value in table.items() if key != "pages"}
    some = [
        _some(folder, dict(page_table), f"{place}: pages {number}")
        for number, page_table in enumerate(pages, 1)
    ]
    return _File(folder, _configuration(folder, rules, place), some)


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
    rules = configuration_of(read_options(table, place, OPTIONS, folder), place)
    return replace(rules, root=folder) if rules.errata else rules


def configuration_of(values: Mapping[str, Any], place: str) -> Configuration:
    """Return the configuration with values by the names of their options.

    place: where the values stand, for messages.
    """
    folder_values = {name: value for name, value in values.items() if name not in OF_EXAMPLES}
    return Configuration(layer_of(values, place), **folder_values)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
