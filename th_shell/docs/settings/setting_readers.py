"""Readers of the values that are said of pages and examples.

Each takes the value that a table has, and returns the one that counts, or raises ValueError with
what is wrong. Readers of names of files first take the folder that they are relative to.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.reading.examples import LUA, PYTHON
from th_shell.docs.reading.languages import language_of
from th_shell.docs.settings.conditions import ConditionError, parse_condition
from th_shell.docs.settings.settings import Filter, Mark
from th_shell.files import read_file

#: Stands before a command that is an engine by itself.
PROTOCOL = "protocol:"
#: What `import torch` may be in Python: this project's, or what is installed beside it.
TH, INSTALLED = TORCHES = ("th", "installed")


class Command(NamedTuple):
    """A command that is an engine.

    speaks_protocol: whether it is one by itself; else it runs the script that is the engine.
    """

    language: str
    words: Sequence[str]
    speaks_protocol: bool = False


_NAME = re.compile(r"[A-Za-z_]\w*")


def string(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def text(value: object) -> str:
    """A text that is not empty."""
    if not string(value).strip():
        raise ValueError("not a text")
    return string(value)


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


def share(value: object) -> float:
    """A part of a whole."""
    found = number(value)
    if found > 1:
        raise ValueError("not a number from 0 to 1")
    return found


def seconds(value: object) -> float:
    """A number above 0, which may be infinite."""
    if value == float("inf"):
        return float("inf")
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


def seed(value: object) -> tuple[str, ...]:
    """A whole number, for the engine."""
    return (str(whole(value)),)


def mark(value: object) -> Mark:
    """`true`, a reason, or a table with `reason` and `if`."""
    if value is True:
        return Mark()
    if isinstance(value, str):
        return Mark(text(value))
    if not isinstance(value, Mapping):
        raise ValueError("neither a reason nor a table with 'reason' and 'if'")
    for key in value:
        if key not in ("reason", "if"):
            raise ValueError(f"unknown setting '{key}': there are 'reason' and 'if'")
    reason = text(value["reason"]) if "reason" in value else ""
    if "if" not in value:
        return Mark(reason)
    try:
        return Mark(reason, parse_condition(text(value["if"])))
    except ConditionError as error:
        raise ValueError(f'the condition "{value["if"]}" is wrong: {error}') from None


def filters(value: object) -> tuple[Filter, ...]:
    """A list of tables with `match` and `replace`."""
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


def captures(value: object) -> tuple[str, ...]:
    """A name, or a list of names."""
    names = strings(value)
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"not a name: '{name}'")
    return names


def engine_command(value: object) -> Command:
    """What a text names as an engine: `[LANGUAGE:] [protocol:] COMMAND`. Raises ValueError."""
    words = shlex.split(text(value))
    language = LUA
    if words and words[0].endswith(":") and words[0] != PROTOCOL:
        language = language_name(words.pop(0)[:-1])
    speaks_protocol = words[:1] == [PROTOCOL]
    words = words[speaks_protocol:]
    if not words:
        raise ValueError("no command")
    return Command(language, words, speaks_protocol)


def language_name(value: object) -> str:
    """The language that a text names. Raises ValueError."""
    language = language_of(text(value), ())
    if not language:
        raise ValueError(f"{value}: neither {LUA} nor {PYTHON}")
    return language


def preludes(folder: Path, value: object) -> dict[str, str]:
    """The texts of files with code, by their languages."""
    found = {}
    for path in (folder / one for one in strings(value)):
        try:
            code = read_file(path).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        found[PYTHON if path.suffix == ".py" else LUA] = code
    return found


def engines(value: object) -> dict[str, Command]:
    """The commands of one text or several, by their languages."""
    return {one.language: one for one in map(engine_command, strings(value))}


def existing_folder(folder: Path, value: object) -> Path:
    """The path of a folder that is there."""
    path = folder / text(value)
    if not path.is_dir():
        raise ValueError(f"no such folder: {path}")
    return path


def search_path(folder: Path, value: object) -> str:
    """Where modules are searched, in the notation of Lua. Raises ValueError.

    value: a text in that notation, or a list of patterns; relative to a folder.
    """
    patterns = [one for some in strings(value) for one in some.split(";") if one.strip()]
    return ";".join(str(folder.absolute() / one.strip()) for one in patterns)


def environment(value: object) -> dict[str, str]:
    """A table of texts."""
    if not isinstance(value, Mapping):
        raise ValueError("not a table of texts")
    for name, one in value.items():
        if not isinstance(one, str) or "\0" in one or "=" in name or not name:
            raise ValueError(f"'{name}' is not a variable with a text")
    return dict(value)


def megabytes(value: object) -> int:
    """The bytes of a whole number of megabytes."""
    return whole(value) << 20


def torch(value: object) -> str:
    """One of `TORCHES`."""
    if value not in TORCHES:
        raise ValueError(f"neither '{TH}' nor '{INSTALLED}'")
    return text(value)


def paths(folder: Path, value: object) -> list[str]:
    """A path, or a list of them."""
    return [str(folder / one) for one in strings(value)]


# -- words of directives and of the command line


def literal(word: str) -> object:
    """The number or the truth value that a word is; else the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(word, word)
