"""The file of settings beside a page, PAGE.th-docs, for pages that are not to be touched.

It is a TOML file. What stands at its top is said of the whole page; each table of `examples` is
said of the examples that have its heading, its input (its first line) and its ordinal, of which
any may be left out:

    rtol = 1e-3
    setup = "require 'nn'"

    [[examples]]
    heading = "Random numbers"
    input = "x:sum()"
    xfail = "prints a digit too many"

The ordinal is the number of the example among those with the same heading and input, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.identity import Identity, identities
from th_shell.docs.settings.setting_readers import (
    Reader,
    positive_whole,
    read_layer,
    read_values,
    text,
)
from th_shell.docs.settings.settings import Layer, SettingsError
from th_shell.docs.settings.toml import read_toml

_SUFFIX = ".th-docs"


@dataclass(frozen=True)
class Entry:
    """What is said of some examples, whose indices it has. place: where this is said."""

    layer: Layer
    examples: Sequence[int]
    place: str


@dataclass(frozen=True)
class Sidecar:
    """What is said of a page and of some of its examples."""

    layer: Layer
    entries: Sequence[Entry]
    place: str


def read_sidecar(page: Path, examples: Sequence[Example]) -> Sidecar | None:
    """The sidecar of a page; None if there is none. Raises SettingsError."""
    path = page.with_name(page.name + _SUFFIX)
    if not path.exists():
        return None
    table = read_toml(path)
    entries = table.pop("examples", [])
    if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
        raise SettingsError(f"{path}: examples: not a list of tables")
    names = identities(examples)
    found = [_entry(one, f"{path}: examples {at}", names) for at, one in enumerate(entries, 1)]
    return Sidecar(read_layer(table, str(path)), found, str(path))


def _entry(table: Mapping[str, object], place: str, names: Sequence[Identity]) -> Entry:
    readers: dict[str, Reader] = {"heading": text, "input": text, "ordinal": positive_whole}
    which = read_values({k: v for k, v in table.items() if k in readers}, readers, place)
    if not which:
        raise SettingsError(f"{place}: neither 'heading' nor 'input' nor 'ordinal'")
    found = [at for at, name in enumerate(names) if _is_named(name, which)]
    if not found:
        raise SettingsError(f"{place}: the page has no such example")
    said = {key: value for key, value in table.items() if key not in readers}
    return Entry(read_layer(said, place), found, place)


def _is_named(name: Identity, which: Mapping[str, object]) -> bool:
    own = {"heading": name.heading, "input": name.headline, "ordinal": name.ordinal}
    return all(
        own[key] == (" ".join(value.split()) if isinstance(value, str) else value)
        for key, value in which.items()
    )
