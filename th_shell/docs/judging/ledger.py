"""The errata of a page: examples that are wrong in the page itself, with the reasons.

They are in a file beside the page, named PAGE.errata: the page's ledger. A line that is not
indented is a reason; the indented lines under it are the examples that it is for, each with its
line in the page and the first line of its input:

    # A comment.
    The extraction lost a row of the output.
        184: > x
        193: y = torch.Tensor(x)

An entry is for the example with this input that is nearest to the line: lines may have been added
to the page above it. Prompts, white space and comments in the input do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.reading.examples import Example

__all__ = ["Erratum", "LedgerError", "find", "ledger_path", "read_ledger"]

_ENTRY = re.compile(r"^\s+(\d+):\s*(.*)$")
_ANY_PROMPT = re.compile(r"^(?:(?:th)?>|\$)\s*")
_COMMENT = re.compile(r"(?:^|\s)--.*$")


class LedgerError(Exception):
    """A ledger that cannot be read, or with an entry for an example that the page does not have."""


@dataclass(frozen=True)
class Erratum:
    """One entry. line: that of the example in the page. at: that of the entry in the ledger."""

    line: int
    source: str
    reason: str
    at: int


def ledger_path(page: Path, folder: Path | None = None) -> Path:
    """The path of a page's ledger: beside the page, or in a folder of ledgers."""
    return (folder or page.parent) / f"{page.name}.errata"


def read_ledger(path: Path) -> list[Erratum]:
    """The entries of a ledger; none if there is no such file. Raises LedgerError."""
    if not path.exists():
        return []
    return list(_entries(path))


def _entries(path: Path) -> Iterator[Erratum]:
    reason, in_reason = "", False
    for at, text in enumerate(path.read_text("utf-8", "surrogateescape").split("\n"), 1):
        entry = _ENTRY.match(text)
        if not text.strip() or text.startswith("#"):
            in_reason = False
        elif not text[0].isspace():
            reason = f"{reason} {text.strip()}" if in_reason else text.strip()
            in_reason = True
        elif entry and reason:
            yield Erratum(int(entry[1]), _simple(entry[2]), reason, at)
            in_reason = False
        else:
            raise LedgerError(f"{path}:{at}: neither a reason nor '  LINE: INPUT' under one")


def find(entries: Sequence[Erratum], examples: Sequence[Example]) -> dict[int, Erratum]:
    """The entries by the indices of their examples.

    Raises LedgerError if the page has no example for an entry, or an example has two entries.
    """
    found: dict[int, Erratum] = {}
    for entry in entries:
        index = _nearest(entry, examples)
        if index in found:
            raise LedgerError(f"ledger line {entry.at}: a second entry for one example")
        found[index] = entry
    return found


def _nearest(entry: Erratum, examples: Sequence[Example]) -> int:
    named = [
        (abs(example.line - entry.line), index)
        for index, example in enumerate(examples)
        if _simple(example.source.split("\n")[0]) == entry.source
    ]
    if not named:
        raise LedgerError(f"ledger line {entry.at}: the page has no example {entry.source!r}")
    return min(named)[1]


def _simple(source: str) -> str:
    return " ".join(_COMMENT.sub("", _ANY_PROMPT.sub("", source.strip())).split())
