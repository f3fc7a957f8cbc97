"""The errata of a page: examples that are wrong in the page itself, with the reasons.

They are in a file beside the page, named PAGE.errata: the page's ledger. A line that is not
indented is a reason; the indented lines under it are the examples that it is for, each with its
line in the page and the first line of its input. Below, further lines may say what is right: after
`|` what the example prints, or after `>` the input that prints what the page documents. Both are
checked. `th-docs --update` writes what examples print:

    # A comment.
    The extraction lost a row of the output.
        184: > x
            |  1  2
            |  3  4
            | [torch.DoubleTensor of dimension 2x2]
    The extraction made the colon of a method call a dot.
        193: y = x.clone()
            > y = x:clone()

An entry is for the example with this input that is nearest to the line: lines may have been added
to the page above it. Prompts, white space and comments in the input do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from th_shell.docs.reading.examples import Example

__all__ = ["Erratum", "LedgerError", "find", "ledger_path", "read_ledger", "update_ledger"]

_ENTRY = re.compile(r"^\s+(\d+):\s*(.*)$")
_RIGHT = re.compile(r"^\s+(?P<what>[|>])(?: (?P<text>.*))?$")
_ANY_PROMPT = re.compile(r"^(?:>>>|(?:th)?>|\$|In ?\[\d*\]:)\s*")
_COMMENT = re.compile(r"(?:^|\s)--.*$")


class LedgerError(Exception):
    """A ledger that cannot be read, or with an entry for an example that the page does not have."""


@dataclass(frozen=True)
class Erratum:
    """One entry.

    line: that of the example in the page. at: that of the entry in the ledger. output: what the
    example prints, and input: the right input; None where the ledger does not say.
    """

    line: int
    source: str
    reason: str
    at: int
    output: str | None = None
    input: str | None = None


def ledger_path(page: Path, folder: Path | None = None) -> Path:
    """The path of a page's ledger: beside the page, or in a folder of ledgers."""
    return (folder or page.parent) / f"{page.name}.errata"


def read_ledger(path: Path) -> list[Erratum]:
    """The entries of a ledger; none if there is no such file. Raises LedgerError."""
    if not path.exists():
        return []
    found: list[Erratum] = []
    reason, in_reason = "", False
    after_entry = 0  # the line behind the last entry and what is right for it
    for at, text in enumerate(path.read_text("utf-8", "surrogateescape").split("\n"), 1):
        entry, right = _ENTRY.match(text), _RIGHT.match(text)
        if right and at == after_entry:
            found[-1] = _with_line(found[-1], right["what"], right["text"] or "")
            after_entry = at + 1
        elif not text.strip() or text.startswith("#"):
            in_reason = False
        elif not text[0].isspace():
            reason = f"{reason} {text.strip()}" if in_reason else text.strip()
            in_reason = True
        elif entry and reason:
            found.append(Erratum(int(entry[1]), _simple(entry[2]), reason, at))
            after_entry, in_reason = at + 1, False
        else:
            raise LedgerError(f"{path}:{at}: neither a reason nor '  LINE: INPUT' under one")
    return found


def update_ledger(text: str, outputs: Mapping[int, str]) -> str:
    """The text of a ledger with other outputs, by the lines of their entries."""
    lines = text.split("\n")
    for at in sorted(outputs, reverse=True):
        end = at
        while end < len(lines) and _RIGHT.match(lines[end]):
            end += 1
        margin = " " * (len(lines[at - 1]) - len(lines[at - 1].lstrip()) + 4)
        shown = outputs[at].rstrip().split("\n")
        lines[at:end] = [f"{margin}| {line}".rstrip() for line in shown]
    return "\n".join(lines)


def _with_line(entry: Erratum, what: str, text: str) -> Erratum:
    if what == "|":
        output = text if entry.output is None else f"{entry.output}\n{text}"
        return replace(entry, output=output)
    return replace(entry, input=text if entry.input is None else f"{entry.input}\n{text}")


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
