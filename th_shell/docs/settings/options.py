"""All options by which pages are run and judged, in one table.

They are set in TOML files, in directives, and on the command line (`command_lines.py`), which all
read them by `OPTIONS`. An error in a TOML file names the file and the line.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.reading.examples import LUA, PYTHON
from th_shell.docs.reading.languages import language_of
from th_shell.docs.settings.settings import (
    INSTALLED,
    TH,
    TORCHES,
    Configuration,
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
    """Read the tables of a file. Raises SettingsError."""
    try:
        return loads(read_file(path).decode())
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8") from None
    except TOMLDecodeError as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None


def tables_in(table: Mapping[str, Any], name: str, place: str) -> list[Mapping[str, Any]]:
    """Return a list of tables in a table; [] for none. place: of the table.

    Raises SettingsError.
    """
    tables = table.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(entry, Mapping) for entry in tables):
        raise SettingsError(f"{place}: {name}: not a list of tables")
    return tables


# -- readers of values
#
# Each takes the value that a table has, and returns the one that counts, or raises ValueError with
# what is wrong. Readers of names of files first take the folder that they are relative to.


def read_string(value: object) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def read_text(value: object) -> str:
    """Read a text that is not empty."""
    if not read_string(value).strip():
        raise ValueError("not a text")
    return read_string(value)


def read_strings(value: object) -> tuple[str, ...]:
    """Read a text, or a list of texts."""
    return tuple(read_text(entry) for entry in (value if isinstance(value, list) else [value]))


def read_flag(value: object) -> bool:
    """Read either true or false."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def read_number(value: object) -> float:
    """Read a number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    if not (isfinite(value) and value >= 0):
        raise ValueError("not a number from 0 up")
    return float(value)


def read_share(value: object) -> float:
    """Read a part of a whole."""
    part = read_number(value)
    if part > 1:
        raise ValueError("not a number from 0 to 1")
    return part


def read_seconds(value: object) -> float:
    """Read a number above 0, which may be infinite."""
    if value == float("inf"):
        return float("inf")
    if not read_number(value):
        raise ValueError("not a number above 0")
    return read_number(value)


def read_whole(value: object) -> int:
    """Read a whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("not a whole number from 0 up")
    return value


def read_positive_whole(value: object) -> int:
    """Read a whole number above 0."""
    if not read_whole(value):
        raise ValueError("not a whole number above 0")
    return read_whole(value)


def read_seed(value: object) -> tuple[str, ...]:
    """Read a whole number, for the engine."""
    return (str(read_whole(value)),)


#: The settings of a mark in a table.
_OF_MARKS = ("reason", "unless_env", "unless_module")


def read_mark(value: object) -> Mark:
    """Read `true`, a reason, or a table with a reason and names of what an example needs."""
    if value is True:
        return Mark()
    if isinstance(value, str):
        return Mark(read_text(value))
    if not isinstance(value, Mapping):
        raise ValueError("neither a reason nor a table")
    for key in value:
        if key not in _OF_MARKS:
            raise ValueError(f"unknown setting '{key}': there are {', '.join(_OF_MARKS)}")
    texts = {key: read_text(text) for key, text in value.items()}
    env, modules = (tuple(texts.get(key, "").split()) for key in _OF_MARKS[1:])
    return Mark(texts.get("reason", ""), env, modules)


def read_filters(value: object) -> tuple[Filter, ...]:
    """Read a list of tables with `match` and `replace`."""
    if not isinstance(value, list):
        raise ValueError("not a list of tables with 'match' and 'replace'")
    return tuple(_filter(table) for table in value)


def _filter(value: object) -> Filter:
    if not isinstance(value, Mapping) or set(value) != {"match", "replace"}:
        raise ValueError("a filter has 'match' and 'replace'")
    replacement = value["replace"]
    if not isinstance(replacement, str):
        raise ValueError("not a text: 'replace'")
    try:
        pattern = re.compile(read_text(value["match"]), re.M)
        pattern.sub(replacement, "")  # which reads the replacement
    except (re.error, IndexError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return Filter(pattern, replacement)


def _engine_command(value: object) -> tuple[str, Sequence[str]]:
    """Read the command of an engine, `[LANGUAGE:] COMMAND`, as its language and its words.

    Raises ValueError.
    """
    words = shlex.split(read_text(value))
    language = LUA
    if words and words[0].endswith(":"):
        language = language_name(words.pop(0)[:-1])
    if not words:
        raise ValueError("no command")
    return language, words


def language_name(value: object) -> str:
    """Return the language that a text names. Raises ValueError."""
    language = language_of(read_text(value), ())
    if not language:
        raise ValueError(f"{value}: neither {LUA} nor {PYTHON}")
    return language


def read_preludes(folder: Path, value: object) -> dict[str, str]:
    """Read the texts of files with code, by their languages."""
    codes = {}
    for path in (folder / name for name in read_strings(value)):
        try:
            code = read_file(path).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        codes[PYTHON if path.suffix == ".py" else LUA] = code
    return codes


def read_engines(value: object) -> dict[str, Sequence[str]]:
    """Read the commands of one text or several, by their languages."""
    return dict(map(_engine_command, read_strings(value)))


def read_existing_folder(folder: Path, value: object) -> Path:
    """Read the path of a folder that is there."""
    path = folder / read_text(value)
    if not path.is_dir():
        raise ValueError(f"no such folder: {path}")
    return path


def search_path(folder: Path, value: object) -> str:
    """Read a search path of modules, and return it in the notation of Lua. Raises ValueError.

    value: a text in that notation, or a list of patterns; relative to a folder.
    """
    patterns = filter(str.strip, ";".join(read_strings(value)).split(";"))
    return ";".join(str(folder.absolute() / pattern.strip()) for pattern in patterns)


def read_environment(value: object) -> dict[str, str]:
    """Read a table of texts."""
    if not isinstance(value, Mapping):
        raise ValueError("not a table of texts")
    for name, text in value.items():
        if not isinstance(text, str) or "\0" in text or "=" in name or not name:
            raise ValueError(f"'{name}' is not a variable with a text")
    return dict(value)


def read_megabytes(value: object) -> int:
    """Read the bytes of a whole number of megabytes."""
    return read_whole(value) << 20


def read_torch(value: object) -> str:
    """Read one of `TORCHES`."""
    if value not in TORCHES:
        raise ValueError(f"neither '{TH}' nor '{INSTALLED}'")
    return read_text(value)


def read_paths(folder: Path, value: object) -> list[str]:
    """Read a path, or a list of them."""
    return [str(folder / name) for name in read_strings(value)]


# -- words of directives and of the command line


def literal(word: str) -> object:
    """Return the number or the truth value that a word is; else the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(word, word)


# -- the table

#: The readers of hidden code and seeds, in the order of `Layer.hidden`.
_HIDDEN = {"setup": read_strings, "teardown": read_strings, "seed": read_seed}


class Option(NamedTuple):
    """A rule by which pages are run and judged, as tables set it."""

    #: The name in tables, `Settings` and `Configuration`; the command line has hyphens in it.
    name: str
    #: Returns the value that counts for one that a table has, or raises ValueError with what is
    #: wrong; where the value `names_files`, it takes the folder first that they are relative to.
    read: Callable[..., Any]
    names_files: bool = False

    def value(self, word: object, folder: Path) -> Any:
        """Return the value that counts. folder: the one that names of files are relative to."""
        return self.read(folder, word) if self.names_files else self.read(word)


#: All options.
OPTIONS = (
    Option("timeout", read_seconds),
    Option("memory", read_megabytes),
    Option("engine", read_engines),
    Option("language", language_name),
    Option("torch", read_torch),
    Option("prelude", read_preludes, names_files=True),
    Option("lua_path", search_path, names_files=True),
    Option("lua_cpath", search_path, names_files=True),
    Option("environment", read_environment),
    Option("sandbox", read_flag),
    Option("sandbox_read", read_paths, names_files=True),
    Option("atol", read_number),
    Option("rtol", read_number),
    Option("strict", read_flag),
    Option("min_checked", read_share),
    Option("errata", read_existing_folder, names_files=True),
    Option("skip", read_mark),
    Option("xfail", read_mark),
    Option("filters", read_filters),
    Option("reset", read_flag),
    Option("ignore_exception_module", read_flag),
    *(Option(kind, read) for kind, read in _HIDDEN.items()),
)

_SETTINGS = {field.name for field in fields(Settings)}
#: The names of options for examples; all others are for folders alone.
OF_EXAMPLES = _SETTINGS | _HIDDEN.keys()


def read_options(
    table: Mapping[str, object], place: str, options: Iterable[Option], folder: Path = Path()
) -> dict[str, Any]:
    """Read the values of a table by their keys, each of which must be an option's name.

    place: where the table is, for messages. folder: the one that names of files are relative to.
    Raises SettingsError.
    """
    by_name = {option.name: option for option in options}
    values = {}
    for key, value in table.items():
        if key not in by_name:
            raise SettingsError(f"{place}: unknown setting '{key}'")
        try:
            values[key] = by_name[key].value(value, folder)
        except ValueError as error:
            raise SettingsError(f"{place}: {key}: {error}") from None
    return values


def read_layer(table: Mapping[str, object], place: str) -> Layer:
    """Read the rules for examples in a table. place: of the table. Raises SettingsError."""
    options = (option for option in OPTIONS if option.name in OF_EXAMPLES)
    return layer_of(read_options(table, place, options), place)


def layer_of(values: Mapping[str, Any], place: str) -> Layer:
    """Return the layer with values by the names of their options. place: of the values."""
    hidden = [Hidden(kind, entry, place) for kind in _HIDDEN for entry in values.get(kind, ())]
    rules = {name: values[name] for name in _SETTINGS & values.keys()}
    for name, value in rules.items():
        if isinstance(value, Mark):
            rules[name] = replace(value, place=place)
    return Layer(Settings(**rules), tuple(hidden))


def configuration_of(values: Mapping[str, Any], place: str) -> Configuration:
    """Return the configuration with values by the names of their options.

    place: where the values stand, for messages.
    """
    folder_values = {name: value for name, value in values.items() if name not in OF_EXAMPLES}
    return Configuration(layer_of(values, place), **folder_values)
