"""The settings of the prompt: their names, defaults and meanings, and the file they are read from.

The file is `~/.config/th/config.toml` (in `$XDG_CONFIG_HOME` where that is set), or the one that
`$TH_CONFIG` names. It is read when a prompt opens, and never for scripts. What is wrong in it is
told in `Config.warnings`, a line each; the setting then has its default. A new setting is a field
of `Config`: `th --config` and the warnings know it by that.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

EMACS, VI = "emacs", "vi"
TERMINAL_THEME, NO_THEME = "terminal", "none"


class _WrongValue(Exception):
    """A value that a setting cannot have; the message says what it can."""


#: Checks a value of the file; raises _WrongValue.
Reader = Callable[[Any], Any]


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise _WrongValue("true or false")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise _WrongValue("a text in quotes")
    return value


def _whole(lowest: int, highest: int = 10**9) -> Reader:
    def read(value: Any) -> Any:
        # TOML's true is an int for Python.
        if type(value) is not int or not lowest <= value <= highest:
            raise _WrongValue(f"a whole number from {lowest} to {highest}")
        return value

    return read


def _one_of(*words: str) -> Reader:
    def read(value: Any) -> Any:
        if value not in words:
            raise _WrongValue(" or ".join(map(_shown, words)))
        return value

    return read


def _theme(value: Any) -> Any:
    if value in (TERMINAL_THEME, NO_THEME):
        return value
    from pygments.styles import get_all_styles  # type: ignore[import-untyped]

    if value not in (styles := sorted(get_all_styles())):
        words = f'"{TERMINAL_THEME}", "{NO_THEME}" or a style of pygments ({styles[0]} …)'
        raise _WrongValue(words)
    return value


def _setting(default: Any, read: Reader, meaning: str, key: str = "") -> Any:
    return field(default=default, metadata={"read": read, "meaning": meaning, "key": key})


@dataclass(frozen=True)
class Config:
    """The settings of a prompt; their meanings stand beside them."""

    #: The file, be it there or not.
    path: Path = Path()
    #: The errors in it.
    warnings: tuple[str, ...] = ()

    theme: str = _setting(
        TERMINAL_THEME, _theme, "colours: the terminal's own, none, or a style of pygments"
    )
    keys: str = _setting(EMACS, _one_of(EMACS, VI), "whose keys edit a line: emacs or vi")
    suggestions: bool = _setting(
        True, _flag, "former inputs in grey behind the cursor; Right takes them"
    )
    signatures: bool = _setting(
        True, _flag, "how the call is made that is typed, with the argument at the cursor"
    )
    indent: int = _setting(2, _whole(0, 16), "blanks for each level of a block; 0: none")
    prompt_number: bool = _setting(False, _flag, "the number of the input in front of th>")
    pager: bool = _setting(
        True, _flag, "a pager for ?, ?? and lists that are longer than the screen"
    )
    elide: int = _setting(
        1000, _whole(0), "elements from which on a value is shown in part; 0: never"
    )
    results: int = _setting(1000, _whole(1), "how many results _RESULTS keeps")
    pages: str = _setting("", _text, "a folder of pages that ?? takes examples from")
    python_indent: int = _setting(
        4, _whole(0, 16), "the same for Python, at the prompt of th --python", "python.indent"
    )
    python_history: str = _setting(
        "", _text, 'its former inputs; "": ~/.th_python_history', "python.history"
    )
    history_path: str = _setting(
        "", _text, 'the file of former inputs; "": $TREPL_HISTORY or ~/.luahistory', "history.path"
    )
    history_size: int = _setting(
        5000, _whole(0, 10**6), "lines that are read from the end of that file", "history.size"
    )

    @property
    def in_colour(self) -> bool:
        """Tell whether there are colours. Every value of $NO_COLOR but '' forbids them."""
        return self.theme != NO_THEME and not os.environ.get("NO_COLOR")


def config_path(environment: Mapping[str, str]) -> Path:
    """Return the file of settings, as the variables of an environment name it."""
    named = environment.get("TH_CONFIG")
    if named:
        return Path(named).expanduser()
    folder = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(folder) / "th" / "config.toml"


def load(environment: Mapping[str, str] = os.environ) -> Config:
    """Return the settings that hold; never an error."""
    path = config_path(environment)
    try:
        values_there = dict(_flat(_read_toml(path, needed="TH_CONFIG" in environment)))
    except _WrongValue as error:
        return Config(path, (f"{path}: {error}",))
    values: dict[str, Any] = {}
    warnings = []
    settings = {_key(setting): setting for setting in _settings()}
    for key, value in values_there.items():
        setting = settings.get(key)
        if setting is None:
            warnings.append(f"{path}: there is no setting {key}; th --config lists them")
            continue
        try:
            values[setting.name] = setting.metadata["read"](value)
        except _WrongValue as error:
            warnings.append(f"{path}: {key} must be {error}, not {_shown(value)}")
    return Config(path, tuple(warnings), **values)


def overview(config: Config) -> str:
    """Return the settings with their values and meanings: itself a file of settings."""
    there = "" if config.path.exists() else " (not there: these are the defaults)"
    lines = [f"# {config.path}{there}"]
    lines += [f"# wrong: {warning}" for warning in config.warnings]
    for setting in _settings():
        assignment = f"{_key(setting)} = {_shown(getattr(config, setting.name))}"
        lines.append(f"{assignment:<24}  # {setting.metadata['meaning']}")
    return "\n".join(lines) + "\n"


def _settings() -> list[Field[Any]]:
    return [setting for setting in fields(Config) if setting.metadata]


def _key(setting: Field[Any]) -> str:
    return setting.metadata["key"] or setting.name


def _shown(value: Any) -> str:
    """Return a value as it stands in the file."""
    import json  # late: for warnings and --config alone

    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):  # a date
        return str(value)


def _read_toml(path: Path, needed: bool) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if needed:
            raise _WrongValue("no such file") from None
        return {}
    except OSError as error:
        raise _WrongValue(error.strerror) from None
    except UnicodeDecodeError:
        raise _WrongValue("not in UTF-8") from None
    from th_shell.toml import loads  # late: most people have no such file

    try:
        return loads(text)
    except ValueError as error:
        raise _WrongValue(" ".join(str(error).split())) from None


def _flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a table and of those inside it, by their dotted keys."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
