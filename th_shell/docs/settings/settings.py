"""The settings of an example: how it is run and judged.

They are set in several places, of which each has its layer. The settings of an example are its
layers over one another: the example's own stands over its fence's, that over the page's, and that
over the folder's.

A filter counts only where it has something to replace in all texts: so one that is too wide cannot
hide that a part of the output is missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import NamedTuple, TypeVar


class PageError(Exception):
    """A page that cannot be read or judged; the message says why."""


class SettingsError(PageError):
    """A setting is wrong; the message has the file and the place."""


@dataclass(frozen=True)
class Mark:
    """Says that an example is not run, or that it fails, unless it finds what it needs."""

    reason: str = ""
    #: Variables of the environment that it needs to be set.
    unless_env: tuple[str, ...] = ()
    #: Modules that it needs.
    unless_module: tuple[str, ...] = ()
    #: The file and the line or table of it, for messages.
    place: str = ""

    def holds(self, environment: Mapping[str, str], modules: Collection[str]) -> bool:
        """Return whether it holds. modules: those which the engine finds."""
        is_set = all(map(environment.get, self.unless_env))
        is_found = all(name in modules for name in self.unless_module)
        return not (self.unless_env or self.unless_module) or not (is_set and is_found)


class Filter(NamedTuple):
    """A part of printed and documented texts, in place of which another text is compared."""

    pattern: re.Pattern[str]
    replacement: str


class Hidden(NamedTuple):
    """Something that is done beside the examples of a page, which the page does not show."""

    #: 'setup' for code before an example, 'teardown' for code at the end of the page, 'seed' for a
    #: seed of random numbers.
    kind: str
    #: The code or the seed.
    text: str
    #: The file and the line or table of it, for messages.
    place: str


class Tolerance(NamedTuple):
    """The distance from documented numbers that is allowed beside the rounding of what is shown.

    A number may differ by the sum of atol and rtol times the documented number.
    """

    atol: float = 0.0
    rtol: float = 0.0

    def of(self, documented: float, unit: float) -> float:
        """Return the distance allowed from a documented number. unit: one in its last place."""
        relative = self.rtol * abs(documented) if isfinite(documented) else 0.0
        return 1.01 * unit + self.atol + relative

    def plus(self, more: float) -> Tolerance:
        """Return the tolerance with which any number may be further off by so much."""
        return self._replace(atol=self.atol + more)


_Rules = TypeVar("_Rules", bound="Partial")


@dataclass(frozen=True)
class Partial:
    """Rules that are set in one place; a field is None where it is not set."""

    def over(self: _Rules, below: _Rules) -> _Rules:
        """Return these rules over others, which count where these are not set.

        Lists and tables are joined.
        """
        values = {}
        for name in (part.name for part in fields(self)):
            value, below_value = getattr(self, name), getattr(below, name)
            if isinstance(value, Mapping):
                value = {**below_value, **value}
            elif isinstance(value, (tuple, list)):
                value = (*below_value, *value)
            elif isinstance(value, Partial):
                value = value.over(below_value)
            values[name] = below_value if value is None else value
        return replace(self, **values)


@dataclass(frozen=True)
class Settings(Partial):
    """The rules by which an example is run and judged; None: not set."""

    #: Why the example is not run.
    skip: Mark | None = None
    #: Why the example fails.
    xfail: Mark | None = None
    atol: float | None = None
    rtol: float | None = None
    #: The seconds that it may take.
    timeout: float | None = None
    #: True if the text that it prints must be documented.
    strict: bool | None = None
    #: True if a new session begins with it.
    reset: bool | None = None
    #: True if errors in Python are compared without the modules of their classes.
    ignore_exception_module: bool | None = None
    filters: tuple[Filter, ...] = ()

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance of its numbers."""
        return Tolerance(self.atol or 0.0, self.rtol or 0.0)


@dataclass(frozen=True)
class Layer(Partial):
    """All that is set in one place."""

    #: Rules for each example.
    settings: Settings = Settings()
    #: Code and seeds, which are used once for all examples.
    hidden: Sequence[Hidden] = ()


#: A layer that sets nothing.
NOTHING = Layer()

#: The choices for `import torch` in Python: this project's, or the one installed beside it.
TH, INSTALLED = TORCHES = ("th", "installed")


@dataclass(frozen=True)
class Configuration(Partial):
    """The rules by which pages are run and judged; None: not set."""

    #: Settings of each example.
    layer: Layer = NOTHING
    #: The commands that run the examples, by languages.
    engine: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Code that runs before a page, by languages.
    prelude: Mapping[str, str] = field(default_factory=dict)
    #: The paths that `require` searches before its usual ones.
    lua_path: str | None = None
    #: Those that it searches last: of the page's own project.
    own_path: str | None = None
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


def filtered(filters: Iterable[Filter], *texts: str) -> tuple[str, ...]:
    """Return texts after filters, each of which matches all the texts or does nothing."""
    for rule in filters:
        if all(rule.pattern.search(text) for text in texts):
            texts = tuple(rule.pattern.sub(rule.replacement, text) for text in texts)
    return texts
