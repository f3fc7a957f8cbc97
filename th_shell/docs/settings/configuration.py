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

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from th_shell.docs.settings.options import (
    OPTIONS,
    configuration_of,
    read_options,
    read_toml,
    tables_in,
)
from th_shell.docs.settings.settings import Configuration, SettingsError
from th_shell.files import read_file

#: The name of a folder's file of settings.
FILE = "th-docs.toml"
_SHARED_FILE = "pyproject.toml"
_FLAG_FILES = "pyproject.toml pytest.ini tox.ini setup.cfg conf.py docs/conf.py docs/source/conf.py"
#: What sets flags of doctest, and the lines with which it goes on.
_SET_FLAGS = re.compile(rb"^doctest_\w*flags[ \t]*=(.*(?:\n[ \t)\]].*)*)", re.M)
_FLAG = re.compile(rb"\b(IGNORE_EXCEPTION_DETAIL|NUMBER)\b")


def configuration(page: Path, command_line: Configuration) -> Configuration:
    """Return the rules of a page: those of the command line over those of its folder's file.

    Raises SettingsError.
    """
    page = Path(os.path.abspath(page))
    for folder in page.parents:
        if rules := _of_folder(folder, page):
            return command_line.over(rules)
    return command_line


def doctest_flags(page: Path) -> frozenset[str]:
    """Return the flags of doctest that the page's project sets for all its examples.

    It sets them for pytest or Sphinx, in the nearest folder that has such a file; those that would
    change nothing are not among them.
    """
    for folder in Path(os.path.abspath(page)).parents:
        files = [folder / name for name in _FLAG_FILES.split() if (folder / name).is_file()]
        found = [words for file in files for words in _SET_FLAGS.findall(read_file(file))]
        if found or (folder / ".git").exists():
            return frozenset(name.decode() for words in found for name in _FLAG.findall(words))
    return frozenset()


def _of_folder(folder: Path, page: Path) -> Configuration | None:
    """Return the rules that a folder's file has for a page; None if there is no such file."""
    file, shared = folder / FILE, folder / _SHARED_FILE
    if file.is_file():
        return _of_table(read_toml(file), folder, page, str(file))
    if shared.is_file() and b"th-docs" in read_file(shared):
        tool = read_toml(shared).get("tool", {})
        if isinstance(tool, Mapping) and "th-docs" in tool:
            return _of_table(tool["th-docs"], folder, page, f"{shared}: tool.th-docs")
    return None


def _of_table(table: object, folder: Path, page: Path, place: str) -> Configuration:
    """Return the rules that a table has for a page: those of its `pages` stand over its own.

    place: of the table, for messages. Tables for other pages are read as well, so that errors are
    found wherever they are.
    """
    if not isinstance(table, Mapping):
        raise SettingsError(f"{place}: not a table")
    parts = page.relative_to(folder).parts
    rules = _rules({key: table[key] for key in table if key != "pages"}, folder, place)
    for number, some in enumerate(tables_in(table, "pages", place), 1):
        place_of_some = f"{place}: pages {number}"
        pattern = _pattern(some.get("match"), folder, place_of_some)
        values = {key: value for key, value in some.items() if key != "match"}
        rules_of_some = _rules(values, folder, place_of_some)
        if _matches(parts, pattern.split("/")):
            rules = rules_of_some.over(rules)
    return rules


def _rules(table: Mapping[str, object], folder: Path, place: str) -> Configuration:
    rules = configuration_of(read_options(table, place, OPTIONS, folder), place)
    return replace(rules, root=folder) if rules.errata else rules


def _pattern(pattern: object, folder: Path, place: str) -> str:
    """Return the pattern of a table of `pages`. Raises SettingsError if it is one of no file."""
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
    return pattern


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether the parts of a path match those of a pattern."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
