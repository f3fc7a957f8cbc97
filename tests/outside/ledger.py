"""The ledger: what became of each example of the public pages when it was last looked at.

A file of the folder `ledger` has the examples of a repository, a line each: the page, the line of
the example in it, a digest of its text, the verdict, and, where it is red or left out, the reason
that a person gave. Examples are known by their digests, so that a page of another commit can be
compared.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

#: The verdicts by what they say of the page.
GREEN = frozenset({"pass", "layout", "ran", "erratum", "xfail"})
CHECKED_GREEN = GREEN - {"ran"}
RED = frozenset({"differs", "error", "damaged", "healed"})
#: The reasons of a red, but for `follows LINE`: it follows from the red example in that line.
REASONS = {
    "page": "the page is wrong",
    "environment": "it needs what is not there: data, a device, a program, another version",
    "ours": "th-docs or th is wrong",
}
_REASON = re.compile(rf"(?:{'|'.join(REASONS)}|follows \d+)?")


@dataclass(frozen=True)
class Row:
    """An example, as a line of the ledger has it."""

    page: str
    line: int
    digest: str
    verdict: str
    reason: str = ""

    @property
    def is_red(self) -> bool:
        """Tell whether the verdict is a failure."""
        return self.verdict in RED


@dataclass(frozen=True)
class Change:
    """An example that became another one than the ledger says."""

    kind: str
    row: Row
    was: Row | None = None
    is_worse: bool = False

    def __str__(self) -> str:
        before = f"{self.was.verdict} -> " if self.was else ""
        return f"{self.kind}: {self.row.page}:{self.row.line}: {before}{self.row.verdict}"


def examples(page: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a page in the JSON of th-docs, without reasons; text is no example."""
    return [
        Row(page["page"], example["line"], _digest(example), example["verdict"])
        for example in page["examples"]
        if example["verdict"] != "text"
    ]


def _digest(example: Mapping[str, Any]) -> str:
    text = f"{example['language']}\n{example['input']}\n{example['expected']}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def read(path: Path) -> list[Row]:
    """Return the rows of a file of the ledger; none where there is no file. Raises ValueError."""
    if not path.exists():
        return []
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    found = [Row(page, int(line), *others) for page, line, *others in lines[1:]]
    for row in found:
        if not _REASON.fullmatch(row.reason):
            raise ValueError(f"{path.name}: {row.page}:{row.line}: no reason: {row.reason}")
    return found


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows of a repository."""
    lines = [[field.name for field in fields(Row)], *map(astuple, rows)]
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))


def with_reasons(rows: Sequence[Row], before: Sequence[Row]) -> list[Row]:
    """Return rows with the reasons that the same examples had, where they are still not green."""
    reasons = {key: row for key, row in _keyed(before)}
    return [
        replace(row, reason=was.reason) if was and row.verdict not in GREEN else row
        for key, row in _keyed(rows)
        for was in [reasons.get(key)]
    ]


def changes(before: Sequence[Row], now: Sequence[Row]) -> Iterator[Change]:
    """Yield what changed from the ledger's rows to those of a run."""
    old, new = dict(_keyed(before)), dict(_keyed(now))
    for key, row in new.items():
        was = old.get(key)
        if was is None:
            yield Change("new red" if row.is_red else "newly read", row, None, row.is_red)
        elif row.verdict != was.verdict:
            yield _changed(was, row)
    for key, was in old.items():
        if key not in new:
            yield Change("lost", was, None, is_worse=True)


def _changed(was: Row, row: Row) -> Change:
    if row.is_red and not was.is_red:
        return Change("new red", row, was, is_worse=True)
    if was.verdict in CHECKED_GREEN and row.verdict not in CHECKED_GREEN:
        return Change("no longer checked", row, was, is_worse=True)
    if row.verdict in CHECKED_GREEN and was.verdict not in CHECKED_GREEN:
        return Change("new green", row, was)
    return Change("other verdict", row, was)


def _keyed(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, str, int], Row]]:
    """Yield rows with what they are known by: page, digest, and the ordinal among equal ones."""
    seen = Counter[tuple[str, str]]()
    for row in rows:
        seen[row.page, row.digest] += 1
        yield (row.page, row.digest, seen[row.page, row.digest]), row
