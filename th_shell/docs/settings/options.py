"""All that can be said of how pages are run and judged, in one table.

It is said in TOML files, in directives, and on the command line, which all read it by `OPTIONS`. An
error in a TOML file names the file and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Option:
    """Something that can be said of how pages are run and judged.

    name: in tables, `Settings` and `Configuration`; the command line has hyphens in it. read:
    returns the value that counts for one that a table has, or raises ValueError with what is wrong;
    where the value `names_files`, it takes the folder first that they are relative to.

    help: what the command line says of it; '' where that does not have it. metavar: its word there,
    None for none. word: makes a table's value of this word.
    """

    name: str
    read: Callable[..., Any]
    help: str = ""
    metavar: str | None = None
    word: Callable[[str], object] = str
    names_files: bool = False

    def value(self, said: object, folder: Path) -> Any:
        """The value that counts. folder: the one that names of files are relative to."""
        return self.read(folder, said) if self.names_files else self.read(said)


_of_files = partial(Option, names_files=True)

#: What says how pages are run, in the order of the command line's help.
RUNNING = (
    Option(
        "timeout",
        readers.seconds,
        "the time that an example may take (default: 30)",
        "SECONDS",
        readers.literal,
    ),
    Option(
        "memory",
        readers.megabytes,
        "the memory that a page may take, in megabytes; 0: no limit (default: 4096)",
        "MB",
        readers.literal,
    ),
    Option(
        "engine",
        readers.engines,
        "what runs the examples instead of th: a command that runs a Lua script; or, behind "
        f"'{readers.PROTOCOL} ', one that speaks the protocol of th_shell/docs/README.md; "
        "behind 'python: ', what runs the examples in Python (default: the Python of th-docs)",
        "COMMAND",
    ),
    Option(
        "language",
        readers.language_name,
        "the language of blocks that neither name theirs nor have a prompt (default: lua)",
        "LANGUAGE",
    ),
    Option(
        "torch",
        readers.torch,
        "what `import torch` is in Python without --engine: this project's torch (the "
        "default), or what is installed",
        f"{{{','.join(readers.TORCHES)}}}",
    ),
    _of_files(
        "prelude",
        readers.preludes,
        "run the code in FILE before each page; before examples in Python if it is FILE.py",
        "FILE",
    ),
    _of_files(
        "lua_path",
        readers.search_path,
        "where modules are searched first, as in LUA_PATH: 'lib/?.lua'",
        "PATH",
    ),
    _of_files(
        "lua_cpath", readers.search_path, "the same for modules that are C libraries", "PATH"
    ),
    Option(
        "sandbox",
        readers.flag,
        "let pages read and write their own folders alone, start no process, reach no network",
    ),
    _of_files(
        "sandbox_read",
        readers.paths,
        "let pages in the sandbox read this file or folder, too",
        "PATH",
        readers.existing,
    ),
)

#: What says how pages are judged.
JUDGING = (
    Option(
        "atol",
        readers.number,
        "how far a printed number may be from the documented one",
        "NUMBER",
        readers.literal,
    ),
    Option(
        "rtol",
        readers.number,
        "the same as a part of the documented number; with both, their sum",
        "NUMBER",
        readers.literal,
    ),
    Option(
        "strict",
        readers.flag,
        "fail where a prompt prints something and the page documents nothing",
    ),
    Option(
        "min_checked",
        readers.share,
        "a page fails if a smaller share of what could be compared is checked, such as 0.8; the "
        "others are fragments (default: 0)",
        "SHARE",
        readers.literal,
    ),
    _of_files(
        "errata",
        readers.existing_folder,
        "the folder of the files with errata and verdicts, PAGE.th-docs "
        "(default: beside each page)",
        "FOLDER",
    ),
)

#: All that can be said.
OPTIONS = (
    *RUNNING,
    *JUDGING,
    Option("environment", readers.environment),
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
