"""Finds the lines of a page that `th-docs fix` replaces, and replaces them.

What differs gets the text that the program prints, where that is always the same; what a repair
has healed gets the repaired lines. Examples that the page's ledger has are left as they are, and
so is whatever depends on chance or raises an error: the page's author must look at these. Before
anything is replaced, `proof` reads the new page again: what would not be read as it is meant, such
as a printed text that looks like a prompt, is left as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.fixing.proof import Change, reads_back
from th_shell.docs.fixing.rewriting import rewritten
from th_shell.docs.judging.pages import Assessment
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.page import Page

_REWRITTEN = (Verdict.DIFFERS, Verdict.DAMAGED)


@dataclass(frozen=True)
class Fix:
    """The fix of a page.

    text: that of the mended page. examples: how many examples were mended. left: the results that
    fail and stay as they are.
    """

    text: str
    examples: int
    left: Sequence[Result]


def find_fix(path: Path, text: str, page: Page, assessment: Assessment) -> Fix:
    """The fix of a page with this text, from how its examples were judged."""
    failed = [
        (i, result)
        for i, result in enumerate(assessment.results)
        if result.failed and i not in assessment.errata
    ]
    changes = [change for i, _ in failed if (change := _change(i, page, assessment))]
    new = reads_back(path, text, page, changes)
    if new is None:
        kept: list[Change] = []
        for change in changes:
            if reads_back(path, text, page, [*kept, change]) is not None:
                kept.append(change)
        changes, new = kept, reads_back(path, text, page, kept)
    mended = {change.index for change in changes}
    left = [result for i, result in failed if i not in mended]
    return Fix(text if new is None else new, len(changes), left)


def _change(index: int, page: Page, assessment: Assessment) -> Change | None:
    if index in assessment.repairs:
        return Change(index, assessment.repairs[index].lines)
    result = assessment.results[index]
    if not _is_mendable(result) or _ends_script(index, assessment.results):
        return None
    lines = _new_lines(page, result)
    return Change(index, lines, result.got) if lines else None


def _is_mendable(result: Result) -> bool:
    is_text = all(char.isprintable() or char in "\t\n" for char in result.got)
    return result.verdict in _REWRITTEN and is_text and not result.by_chance


def _ends_script(index: int, results: Sequence[Result]) -> bool:
    """Whether a documented text may be what statements above print, too."""
    if index == 0 or results[index].example.kind is not Kind.BARE:
        return False
    above, own = results[index - 1], results[index].example
    is_one = above.example.kind is Kind.BARE and above.example.block == own.block
    return is_one and not above.example.expected and bool(above.got.strip())


def _new_lines(page: Page, result: Result) -> Mapping[int, Sequence[str]]:
    example = result.example
    first, last = example.documented or (0, -1)
    lines = (line for block in page.blocks for line in block.lines)  # it may be another block
    old = [line for line in lines if first <= line.number <= last]
    new = rewritten([line.text for line in old], result.got)
    for at, line in enumerate(old):
        if not line.text.strip() and any(new[at]):  # its margin in the page is unknown
            new[at - 1], new[at] = [*new[at - 1], *new[at]], []
    pairs = zip(old, new, strict=True)
    return {line.number: texts for line, texts in pairs if texts != [line.text]}
