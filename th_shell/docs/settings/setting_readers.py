"""Reads what is said of examples from tables, which come from TOML files and from directives.

Each key has a reader: it takes the value from the table and returns the one that counts, or raises
ValueError with what is wrong. An error in a TOML file names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from th_shell.docs.settings.conditions import ConditionError, parse_condition
from th_shell.docs.settings.settings import (
    Filter,
    Hidden,
    Layer,
    Mark,
    Settings,
    SettingsError,
)
from th_shell.files import read_file
from th_shell.toml import TOMLDecodeError, loads


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises SettingsError."""
    try:
        return loads(read_file(path).decode())
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8") from None
    except TOMLDecodeError as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None


Reader = Callable[[Any], Any]

_HIDDEN = ("setup", "teardown", "seed")
_NAME = re.compile(r"[A-Za-z_]\w*")


def read_layer(table: Mapping[str, object], place: str) -> Layer:
    """What a table says of examples. place: where it is, for messages. Raises SettingsError."""
    readers: dict[str, Reader] = {
        "skip": partial(_mark, place=place),
        "xfail": partial(_mark, place=place),
        "atol": number,
        "rtol": number,
        "timeout": positive,
        "strict": flag,
        "filters": _filters,
        "capture": _captures,
        "setup": strings,
        "teardown": strings,
        "seed": _seed,
    }
    values = read_values(table, readers, place)
    hidden = [Hidden(kind, one, place) for kind in _HIDDEN for one in values.pop(kind, ())]
    if "capture" in values:
        values["captures"] = values.pop("capture")
    return Layer(Settings(**values), tuple(hidden))


def read_values(
    table: Mapping[str, object], readers: Mapping[str, Reader], place: str
) -> dict[str, Any]:
    """The values of a table by its keys, each of which must have a reader. Raises SettingsError."""
    found = {}
    for key, value in table.items():
        if key not in readers:
            raise SettingsError(f"{place}: unknown setting '{key}'")
        try:
            found[key] = readers[key](value)
        except ValueError as error:
            raise SettingsError(f"{place}: {key}: {error}") from None
    return found


# -- readers


def text(value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("not a text")
    return value


def strings(value: object) -> tuple[str, ...]:
    """A text, or a list of texts."""
    return tuple(text(one) for one in (value if isinstance(value, list) else [value]))


def flag(value: object) -> bool:
    """Either true or false."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def number(value: object) -> float:
    """A number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    if not (isfinite(value) and value >= 0):
        raise ValueError("not a number from 0 up")
    return float(value)


def positive(value: object) -> float:
    """A number above 0."""
    if not number(value):
        raise ValueError("not a number above 0")
    return number(value)


def whole(value: object) -> int:
    """A whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("not a whole number from 0 up")
    return value


def positive_whole(value: object) -> int:
    """A whole number above 0."""
    if not whole(value):
        raise ValueError("not a whole number above 0")
    return whole(value)


def _seed(value: object) -> tuple[str, ...]:
    return (str(whole(value)),)


def _mark(value: object, place: str) -> Mark:
    if value is True:
        return Mark(place=place)
    if isinstance(value, str):
        return Mark(text(value), place=place)
    if not isinstance(value, Mapping):
        raise ValueError("neither a reason nor a table with 'reason' and 'if'")
    for key in value:
        if key not in ("reason", "if"):
            raise ValueError(f"unknown setting '{key}': there are 'reason' and 'if'")
    reason = text(value["reason"]) if "reason" in value else ""
    if "if" not in value:
        return Mark(reason, place=place)
    try:
        return Mark(reason, parse_condition(text(value["if"])), place)
    except ConditionError as error:
        raise ValueError(f'the condition "{value["if"]}" is wrong: {error}') from None


def _filters(value: object) -> tuple[Filter, ...]:
    if not isinstance(value, list):
        raise ValueError("not a list of tables with 'match' and 'replace'")
    return tuple(_filter(one) for one in value)


def _filter(value: object) -> Filter:
    if not isinstance(value, Mapping) or set(value) != {"match", "replace"}:
        raise ValueError("a filter has 'match' and 'replace'")
    replacement = value["replace"]
    if not isinstance(replacement, str):
        raise ValueError("not a text: 'replace'")
    try:
        pattern = re.compile(text(value["match"]), re.M)
        pattern.sub(replacement, "")  # which reads the replacement
    except (re.error, IndexError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return Filter(pattern, replacement)


def _captures(value: object) -> tuple[str, ...]:
    names = strings(value)
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"not a name: '{name}'")
    return names
