"""All that can be said of how pages are run and judged, in one table.

It is said in TOML files, in directives, and on the command line (`command/command_lines.py`), which
all read it by `OPTIONS`. An error in a TOML file names the file and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.settings import setting_readers as readers
from th_shell.docs.settings.settings import Hidden, Layer, Mark, Settings, SettingsError
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


def tables_in(table: Mapping[str, Any], name: str, place: str) -> list[Mapping[str, Any]]:
    """The tables of a list, which may not be there. place: of the table. Raises SettingsError."""
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise SettingsError(f"{place}: {name}: not a list of tables")
    return found


#: What is done beside the examples of a page, in the order of `Layer.hidden`.
_HIDDEN = {"setup": readers.strings, "teardown": readers.strings, "seed": readers.seed}


class Option(NamedTuple):
    """Something that can be said of how pages are run and judged.

    name: in tables, `Settings` and `Configuration`; the command line has hyphens in it. read:
    returns the value that counts for one that a table has, or raises ValueError with what is wrong;
    where the value `names_files`, it takes the folder first that they are relative to.
    """

    name: str
    read: Callable[..., Any]
    names_files: bool = False

    def value(self, said: object, folder: Path) -> Any:
        """The value that counts. folder: the one that names of files are relative to."""
        return self.read(folder, said) if self.names_files else self.read(said)


#: All that can be said.
OPTIONS = (
    Option("timeout", readers.seconds),
    Option("memory", readers.megabytes),
    Option("engine", readers.engines),
    Option("language", readers.language_name),
    Option("torch", readers.torch),
    Option("prelude", readers.preludes, names_files=True),
    Option("lua_path", readers.search_path, names_files=True),
    Option("lua_cpath", readers.search_path, names_files=True),
    Option("environment", readers.environment),
    Option("sandbox", readers.flag),
    Option("sandbox_read", readers.paths, names_files=True),
    Option("atol", readers.number),
    Option("rtol", readers.number),
    Option("strict", readers.flag),
    Option("min_checked", readers.share),
    Option("errata", readers.existing_folder, names_files=True),
    Option("skip", readers.mark),
    Option("xfail", readers.mark),
    Option("filters", readers.filters),
    Option("capture", readers.captures),
    Option("reset", readers.flag),
    *(Option(kind, read) for kind, read in _HIDDEN.items()),
)

_SETTINGS = {field.name for field in fields(Settings)}
#: The names of what is said of examples; all else is only said of folders.
OF_EXAMPLES = _SETTINGS | _HIDDEN.keys()


def read_options(
    table: Mapping[str, object], place: str, options: Iterable[Option], folder: Path = Path()
) -> dict[str, Any]:
    """The values of a table by their keys, each of which must be an option's name.

    place: where the table is, for messages. folder: the one that names of files are relative to.
    Raises SettingsError.
    """
    known = {option.name: option for option in options}
    found = {}
    for key, value in table.items():
        if key not in known:
            raise SettingsError(f"{place}: unknown setting '{key}'")
        try:
            found[key] = known[key].value(value, folder)
        except ValueError as error:
            raise SettingsError(f"{place}: {key}: {error}") from None
    return found


def read_layer(table: Mapping[str, object], place: str) -> Layer:
    """What a table says of examples. place: where it is, for messages. Raises SettingsError."""
    options = (option for option in OPTIONS if option.name in OF_EXAMPLES)
    return layer_of(read_options(table, place, options), place)


def layer_of(values: Mapping[str, Any], place: str) -> Layer:
    """The layer with some values, by the names of their options. place: where they are said."""
    hidden = [Hidden(kind, one, place) for kind in _HIDDEN for one in values.get(kind, ())]
    said = {name: values[name] for name in _SETTINGS & values.keys()}
    for name, value in said.items():
        if isinstance(value, Mark):
            said[name] = replace(value, place=place)
    return Layer(Settings(**said), tuple(hidden))
