"""The errata of a page: examples that are wrong in the page itself, with the reasons.

They are in a file beside the page, named PAGE.errata: the page's ledger. A line that is not
indented is a reason; the indented lines under it are the examples that it is for, each with its
line in the page and the first line of its input. Below, further lines say what is right: after `|`
what the example prints, after `~` what it prints where that depends on chance, so that only the
layout counts, or after `>` the input that prints what the page documents. All are checked. A line
after `@` names the place of the example, so that the entry finds it when lines
move: the heading above, the number of the example among those under it that begin alike, and a
hash of the documented text. `th-docs --update` writes all of this:

    # A comment.
    The extraction lost a row of the output.
        184: > x
            @ Extracting sub-tensors/2 #1f0c88e8
            |  1  2
            |  3  4
            | [torch.DoubleTensor of dimension 2x2]
    The extraction made the colon of a method call a dot.
        193: y = x.clone()
            > y = x:clone()

An entry without such a line is for the example with this input that is nearest to its line.
Prompts, white space and comments in the input do not count.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from th_shell.docs.reading.examples import Example, Kind, identities, prompt_of
from th_shell.files import read_file

_ENTRY = re.compile(r"^\s+(\d+):\s*(.*)$")
_DETAIL = re.compile(r"^\s+(?P<what>[@|~>])(?: (?P<text>.*))?$")
_PLACE = re.compile(r"(?P<heading>.*)/(?P<ordinal>\d+) #(?P<text>[0-9a-f]+)\s*$")
_PROMPTS = re.compile(r"^(?:(?:>>>|(?:th)?>|\$|In ?\[\d*\]:)\s*)+")
_COMMENT = re.compile(r"(?:^|\s)--.*$")
_MARGIN = " " * 4


class LedgerError(Exception):
    """A ledger that cannot be read, or with an entry for an example that the page does not have."""


@dataclass(frozen=True)
class Place:
    """What tells an example from those of its page that have the same input.

    heading, ordinal: see `Identity`. text: a hash of the documented text.
    """

    heading: str
    ordinal: int
    text: str

    def __str__(self) -> str:
        return f"{self.heading}/{self.ordinal} #{self.text}"


@dataclass(frozen=True)
class Erratum:
    """One entry.

    line: that of the example in the page. at: that of the entry in the ledger. place: that of the
    example. output: what the example prints, and input: the right input; None where the ledger does
    not say. by_chance: whether the output depends on chance.
    """

    line: int
    source: str
    reason: str
    at: int = 0
    place: Place | None = None
    output: str | None = None
    input: str | None = None
    by_chance: bool = False


def ledger_path(page: Path, folder: Path | None = None) -> Path:
    """The path of a page's ledger: beside the page, or in a folder of ledgers."""
    return (folder or page.parent) / f"{page.name}.errata"


def read_ledger(path: Path) -> list[Erratum]:
    """The entries of a ledger; none if there is no such file. Raises LedgerError."""
    found: list[Erratum] = []
    reason, in_reason = "", False
    after_entry = 0  # the line behind the last entry and its details
    for at, text in enumerate(ledger_lines(path), 1):
        entry, detail = _ENTRY.match(text), _DETAIL.match(text)
        if detail and at == after_entry:
            found[-1] = _with_detail(found[-1], detail["what"], detail["text"] or "")
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


def ledger_lines(path: Path) -> list[str]:
    """The lines of a ledger or a baseline. Printed texts in it may have returns of the carriage."""
    return [line.removesuffix("\r") for line in ledger_text(path).split("\n")]


def ledger_text(path: Path) -> str:
    """The text of a ledger or a baseline; '' if there is no such file."""
    return read_file(path).decode("utf-8", "surrogateescape") if path.exists() else ""


def updated_ledger(
    text: str, old: Mapping[int, Erratum], new: Mapping[int, Erratum], examples: Sequence[Example]
) -> str:
    """The text of a ledger with other entries, by the indices of their examples.

    An entry that `old` has is written over the one in the text, and its reason is kept. One that
    only `old` has is struck, with its reason if that has no other entry. Those that only `new` has
    are added under their reasons, at the end.
    """
    lines = text.split("\n")
    for i in sorted(old, key=lambda i: -old[i].at):
        start = old[i].at - 1
        end = start + 1
        while end < len(lines) and _DETAIL.match(lines[end]):
            end += 1
        if i not in new and not (end < len(lines) and _ENTRY.match(lines[end])):
            start = _start_of_reason(lines, start)
        lines[start:end] = _written(new[i], examples[i]) if i in new else []
    added: dict[str, list[str]] = {}
    for i in sorted(set(new) - set(old)):
        added.setdefault(new[i].reason, []).extend(_written(new[i], examples[i]))
    text = "\n".join(lines)
    for reason, entries in added.items():
        text = text.rstrip("\n") + "\n" * (2 if text.strip() else 0)
        text += "\n".join([reason, *entries, ""])
    return text


def find(entries: Sequence[Erratum], examples: Sequence[Example]) -> dict[int, Erratum]:
    """The entries by the indices of their examples.

    Raises LedgerError if the page has no example for an entry, or an example has two entries.
    """
    known = places(examples)
    at_place = {
        (_headline(e), place): i for i, (e, place) in enumerate(zip(examples, known, strict=True))
    }
    found: dict[int, Erratum] = {}
    moved = []
    for entry in entries:
        index = at_place.get((entry.source, entry.place)) if entry.place else None
        if index is None or index in found:
            moved.append(entry)
        else:
            found[index] = entry
    for entry in moved:
        found[_best(entry, examples, known, found)] = entry
    return dict(sorted(found.items()))


def places(examples: Sequence[Example]) -> list[Place]:
    """The places of a page's examples."""
    pairs = zip(examples, identities(examples), strict=True)
    return [Place(name.heading, name.ordinal, _hash(e.expected)) for e, name in pairs]


def _best(
    entry: Erratum, examples: Sequence[Example], known: Sequence[Place], taken: Container[int]
) -> int:
    """The example that an entry is for: of those with its input, the one most like its place.

    taken: examples that have entries already.
    """

    def likeness(index: int) -> tuple[int, ...]:
        apart = -abs(examples[index].line - entry.line)
        wanted, found = entry.place, known[index]
        if wanted is None:
            return (apart,)
        is_under = wanted.heading == found.heading
        steps = -abs(wanted.ordinal - found.ordinal) if is_under else 0
        return wanted.text == found.text, is_under, steps, apart

    named = [i for i, example in enumerate(examples) if _headline(example) == entry.source]
    if not named:
        raise LedgerError(f"ledger line {entry.at}: the page has no example {entry.source!r}")
    free = [i for i in named if i not in taken]
    best = max(free if free and entry.place else named, key=likeness)
    if best in taken:
        raise LedgerError(f"ledger line {entry.at}: a second entry for one example")
    return best


def _with_detail(entry: Erratum, what: str, text: str) -> Erratum:
    if what == "@":
        place = _PLACE.match(text)
        if not place:
            raise LedgerError(f"ledger line {entry.at}: no place: {text}")
        return replace(entry, place=Place(place["heading"], int(place["ordinal"]), place["text"]))
    if what in "|~":
        output = text if entry.output is None else f"{entry.output}\n{text}"
        return replace(entry, output=output, by_chance=what == "~")
    return replace(entry, input=text if entry.input is None else f"{entry.input}\n{text}")


def _written(entry: Erratum, example: Example) -> list[str]:
    prompt = {Kind.PROMPT: prompt_of(example.language), Kind.SHELL: "$ "}.get(example.kind, "")
    lines = [f"{_MARGIN}{example.line}: {prompt}{example.source.split(chr(10))[0]}".rstrip()]
    details = [("@", str(entry.place or ""))]
    if entry.input is not None:
        details += [(">", line) for line in entry.input.split("\n")]
    if entry.output is not None:
        mark = "~" if entry.by_chance else "|"
        details += [(mark, line) for line in entry.output.rstrip().split("\n")]
    return lines + [f"{_MARGIN * 2}{what} {line}".rstrip() for what, line in details]


def _start_of_reason(lines: Sequence[str], at: int) -> int:
    """The index of the first line of a reason that ends above a line; of that line without one."""
    while at > 0 and lines[at - 1].strip() and not re.match(r"[\s#]", lines[at - 1]):
        at -= 1
    return at


def _headline(example: Example) -> str:
    return _simple(example.source.split("\n")[0])


def _simple(source: str) -> str:
    return " ".join(_COMMENT.sub("", _PROMPTS.sub("", source.strip())).split())


def _hash(text: str) -> str:
    return sha256(" ".join(text.split()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
