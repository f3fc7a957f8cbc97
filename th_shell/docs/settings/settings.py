"""``Settings``: all that can be said about how an example is run and judged.

They are said in several places, of which each has its layer. The settings of an example are its
layers over one another: what is said of the example stands over what is said of its fence, that
over what is said of its page, and that over what is said of its folder.

A filter counts only where it has something to replace in all texts: so one that is too wide cannot
hide that a part of the output is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import NamedTuple, TypeVar

from th_shell.docs.settings.conditions import Condition


class PageError(Exception):
    """A page that cannot be read or judged; the message says why."""


class SettingsError(PageError):
    """Something that is said about examples is wrong; the message has the file and the place."""


@dataclass(frozen=True)
class Mark:
    """Says that an example is not run, or that it fails.

    place: where this is said. condition: when it holds; None: always.
    """

    reason: str = ""
    condition: Condition | None = None
    place: str = ""


class Filter(NamedTuple):
    """A part of printed and documented texts, in place of which another text is compared."""

    pattern: re.Pattern[str]
    replacement: str


class Hidden(NamedTuple):
    """Something that is done beside the examples of a page, which the page does not show.

    kind: 'setup' for code before an example, 'teardown' for code at the end of the page, 'seed'
    for a seed of random numbers. text: the code or the seed. place: where it is said.
    """

    kind: str
    text: str
    place: str


class Tolerance(NamedTuple):
    """How far numbers may be from the documented ones, beside the rounding of what is shown.

    A number may differ by the sum of atol and rtol times the documented number.
    """

    atol: float = 0.0
    rtol: float = 0.0

    def of(self, documented: float, unit: float) -> float:
        """How far a number may be from this one. unit: one in its last place."""
        relative = self.rtol * abs(documented) if isfinite(documented) else 0.0
        return 1.01 * unit + self.atol + relative

    def plus(self, more: float) -> Tolerance:
        """The tolerance with which any number may be further off by so much."""
        return self._replace(atol=self.atol + more)


_Said = TypeVar("_Said", bound="Said")


@dataclass(frozen=True)
class Said:
    """What is said in some place, by fields that are None where it says nothing of them."""

    def over(self: _Said, below: _Said) -> _Said:
        """This, and what is said below where this says nothing; of lists and tables, both."""
        found = {}
        for name in (one.name for one in fields(self)):
            value, other = getattr(self, name), getattr(below, name)
            if isinstance(value, Mapping):
                value = {**other, **value}
            elif isinstance(value, (tuple, list)):
                value = (*other, *value)
            elif isinstance(value, Said):
                value = value.over(other)
            found[name] = other if value is None else value
        return replace(self, **found)


@dataclass(frozen=True)
class Settings(Said):
    """How an example is run and judged; None: nothing is said.

    skip: why it is not run. xfail: why it fails. timeout: the seconds that it may take. strict:
    whether what it prints must be documented. reset: whether a new session begins with it.
    capture: names of parts of its output: see `captures`.
    """

    skip: Mark | None = None
    xfail: Mark | None = None
    atol: float | None = None
    rtol: float | None = None
    timeout: float | None = None
    strict: bool | None = None
    reset: bool | None = None
    filters: tuple[Filter, ...] = ()
    capture: tuple[str, ...] = ()

    @property
    def tolerance(self) -> Tolerance:
        """How far numbers may be from the documented ones."""
        return Tolerance(self.atol or 0.0, self.rtol or 0.0)


@dataclass(frozen=True)
class Layer(Said):
    """What is said in one place: settings of examples, and what is done once for all of them."""

    settings: Settings = Settings()
    hidden: Sequence[Hidden] = ()


#: A layer where nothing is said.
NOTHING = Layer()


def filtered(filters: Iterable[Filter], *texts: str) -> tuple[str, ...]:
    """Texts with what filters put in place, each of which matches all the texts or does nothing."""
    for one in filters:
        if all(one.pattern.search(text) for text in texts):
            texts = tuple(one.pattern.sub(one.replacement, text) for text in texts)
    return texts
