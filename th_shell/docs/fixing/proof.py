"""Puts new lines into a page, and proves that they are read there as they are meant.

A printed text may look like a prompt, like code or like a fence. In its place in the page it would
be something else then than what an example prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from th_shell.docs.judging.comparison import agrees
from th_shell.docs.reading.blocks import Line, PageError, edited
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.page import Page, read
from th_shell.docs.reading.refining import examples_of
from th_shell.docs.settings.settings import SettingsError


@dataclass(frozen=True)
class Change:
    """New lines of an example.

    index: that of the example. lines: the new lines, by the number of the line that they replace.
    printed: what the example prints, where the lines document this; None for a repair.
    """

    index: int
    lines: Mapping[int, Sequence[str]]
    printed: str | None = None


def reads_back(path: Path, text: str, page: Page, changes: Sequence[Change]) -> str | None:
    """The text of a page with changes; None where it would not be read as it is meant."""
    new = _changed(text, page, _lines(changes))
    if new is None or not _are_outputs(page, changes):
        return None
    wanted = _edited(page, _lines(changes))
    return new if _shapes(_read_again(path, new, page)) == _shapes(wanted) else None


def _lines(changes: Sequence[Change]) -> dict[int, Sequence[str]]:
    return {number: texts for change in changes for number, texts in change.lines.items()}


def _are_outputs(page: Page, changes: Sequence[Change]) -> bool:
    """Whether what documents an output does, and leaves the inputs as they are."""
    outputs = [change for change in changes if change.printed is not None]
    new = _edited(page, _lines(outputs))
    if [(e.kind, e.source) for e in new] != [(e.kind, e.source) for e in page.examples]:
        return False
    return all(
        agrees(
            new[change.index].expected, change.printed or "", new[change.index].settings.tolerance
        )
        for change in outputs
    )


def _edited(page: Page, lines: Mapping[int, Sequence[str]]) -> list[Example]:
    blocks = [replace(block, lines=edited(block.lines, lines)) for block in page.blocks]
    return examples_of(blocks, page.compiler)


def _read_again(path: Path, text: str, page: Page) -> Sequence[Example] | None:
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            return read(copy, page.compiler).examples
        except (PageError, SettingsError):
            return None


def _shapes(examples: Sequence[Example] | None) -> list[tuple[str, str]] | None:
    return None if examples is None else [(e.source, e.expected) for e in examples]


# -- lines in their places


def _changed(text: str, page: Page, new: Mapping[int, Sequence[str]]) -> str | None:
    """A page with new lines, where all other characters stay; None where a line is not found."""
    known = {line.number: line for block in page.blocks for line in block.lines}
    lines = text.split("\n")
    for number in sorted(new, reverse=True):
        around = _around(lines[number - 1], known[number]) if new[number] else ("", "")
        if around is None:
            return None
        before, behind = around
        lines[number - 1 : number] = [f"{before}{own}{behind}" for own in new[number]]
    return "\n".join(lines)


def _around(old: str, line: Line) -> tuple[str, str] | None:
    """What stands around a line of a block in the page's line: margins, marks, the line's end."""
    at = old.replace("\N{NO-BREAK SPACE}", " ").rfind(line.text)
    return None if at < 0 or not line.text else (old[:at], old[at + len(line.text) :])
