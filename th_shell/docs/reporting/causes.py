"""Groups failures by cause, so that a report shows each cause once.

Failures have the same cause if they have the same verdict and the same normalised message of an
error, or the same reason, or if the same words of the page are other ones in the printed text.
Positions, addresses and, in messages, numbers do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.judging.printout import without_colours
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reporting.differences import changes, word_pieces
from th_shell.docs.reporting.excerpts import CHARACTERS, first_line

_POSITION = re.compile(r"(?:\[string \"[^\n]{0,80}?\"\]|(?<![\w./-])[\w./-]+):\d+:\s+")
_VARYING = re.compile(r"\b0x[0-9a-fA-F]+\b|\d+(?:[.x]\d+)*")
_MESSAGE = 50  # lines at the end of what was printed that may have the message of an error
_CHANGES = 3  # changes that the words on a cause name at most
_WORDS = 60  # characters of a change that they show at most


class Cause(NamedTuple):
    """The reason why examples fail."""

    verdict: Verdict
    #: Equal for the same cause.
    key: tuple[object, ...]
    #: The cause for people.
    words: str


class Cluster(NamedTuple):
    """The failures that have one cause, in the order of pages and lines."""

    cause: Cause
    members: tuple[tuple[Path, Result], ...]

    @property
    def pages(self) -> int:
        """The number of pages with these failures."""
        return len({path for path, _ in self.members})


def clusters(pages: Iterable[PageResult]) -> list[Cluster]:
    """Return the failures of pages by their causes, in the order of each cause's first failure."""
    causes: dict[tuple[object, ...], Cause] = {}
    members: dict[tuple[object, ...], list[tuple[Path, Result]]] = {}
    for page in pages:
        for result in page.failures:
            cause = cause_of(result)
            causes.setdefault(cause.key, cause)
            members.setdefault(cause.key, []).append((page.page, result))
    return [Cluster(causes[key], tuple(members[key])) for key in causes]


@lru_cache(maxsize=4096)
def cause_of(result: Result) -> Cause:
    """Return the cause of a failure."""
    documented = result.example.expected
    if result.verdict is Verdict.ERROR:
        return _by_message(result, result.note or _message(result.got))
    if result.verdict is Verdict.HEALED and result.repaired:
        repair = changes(result.original, result.repaired)
        return _by_changes(result, repair, "the page has {}, right is {}")
    if result.verdict is Verdict.DAMAGED or not documented:
        return _by_message(result, result.note)
    printed = without_colours(result.got).strip()
    is_line = "\n" not in printed
    if is_line and all(piece.mark != " " for piece in word_pieces(documented, printed)):
        words = f"the program prints only '{first_line(printed, _WORDS)}'"
        return _by_message(result, words if printed else "the program prints nothing")
    pairs = changes(documented, result.got)
    return _by_changes(result, pairs, "the page says {}, the program says {}")


def _message(got: str) -> str:
    """Return the message of an error, which is the last thing that an example has printed."""
    text = got.partition("\nstack traceback:")[0].strip()
    # Of megabytes, no more than could be shown: the patterns' time can grow with the square.
    lines = [line[:CHARACTERS].strip() for line in text.split("\n")[-_MESSAGE:]]
    raised = [line for line in lines if _POSITION.match(line)]
    return _POSITION.sub("", (raised or lines)[-1], count=1)


def _by_message(result: Result, message: str) -> Cause:
    words = first_line(message)
    return Cause(result.verdict, (result.verdict, _VARYING.sub("0", words)), words)


def _by_changes(result: Result, pairs: Sequence[tuple[str, str]], both: str) -> Cause:
    words = [_change(old, new, both) for old, new in pairs[:_CHANGES]]
    words += [f"and {len(pairs) - _CHANGES} more differences"] * (len(pairs) > _CHANGES)
    kinds = frozenset(map(_kind, pairs))
    # What differs in nothing that counts has a cause of its own.
    key = result.verdict, kinds if pairs else result
    return Cause(result.verdict, key, "; ".join(words) or result.note)


def _kind(change: tuple[str, str]) -> tuple[str, str]:
    """Return a change with all numbers alike, unless nothing but numbers differs."""
    old, new = (_VARYING.sub("0", text) for text in change)
    return change if old == new else (old, new)


def _change(old: str, new: str, both: str) -> str:
    page, program = (f"'{first_line(text, _WORDS)}'" for text in (old, new))
    if not new:
        return f"only the page has {page}"
    return both.format(page, program) if old else f"the page does not have {program}"
