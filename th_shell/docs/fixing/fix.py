"""Finds the lines of a page that `th-docs fix` replaces, and replaces them.

What differs gets the text that the program prints, where that is always the same; what a repair
has healed gets the repaired lines. Examples that the page's ledger has are left as they are, and
so is whatever depends on chance or raises an error: the page's author must look at these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from th_shell.docs.fixing.rewriting import rewritten
from th_shell.docs.judging.pages import Assessment
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.blocks import Line
from th_shell.docs.reading.page import Page

__all__ = ["Fix", "find_fix", "fixed_text"]

_REWRITTEN = (Verdict.DIFFERS, Verdict.DAMAGED)


@dataclass(frozen=True)
class Fix:
    """What is to be replaced in a page.

    lines: the new texts of lines, by the numbers of the lines that they replace. examples: how many
    examples these are of. left: the results that fail and stay as they are.
    """

    lines: Mapping[int, Sequence[str]]
    examples: int
    left: Sequence[Result]


def find_fix(page: Page, assessment: Assessment) -> Fix:
    """The fix of a page, from how its examples were judged."""
    lines: dict[int, Sequence[str]] = {}
    count, left = 0, []
    for i, result in enumerate(assessment.results):
        if i in assessment.repairs and i not in assessment.errata:
            new = assessment.repairs[i].lines
        elif i in assessment.errata or not result.failed:
            continue
        else:
            new = _new_lines(page, result)
        lines.update(new)
        count += bool(new)
        left += [] if new else [result]
    return Fix(lines, count, left)


def _new_lines(page: Page, result: Result) -> Mapping[int, Sequence[str]]:
    example = result.example
    if result.verdict not in _REWRITTEN or result.by_chance or not example.documented:
        return {}
    first, last = example.documented
    block = page.blocks[example.block]
    old = [line for line in block.lines if first <= line.number <= last]
    new = rewritten([line.text for line in old], result.got)
    pairs = zip(old, new, strict=True)
    return {line.number: texts for line, texts in pairs if list(texts) != [line.text]}


def fixed_text(text: str, page: Page, fix: Fix) -> str:
    """The text of a page with its fix; all other characters stay as they are."""
    known = {line.number: line for block in page.blocks for line in block.lines}
    lines = text.split("\n")
    for number in sorted(fix.lines, reverse=True):
        old = lines[number - 1]
        lines[number - 1 : number] = [_in_page(old, known[number], t) for t in fix.lines[number]]
    return "\n".join(lines)


def _in_page(old: str, line: Line, text: str) -> str:
    """A new text as a line of the page, with the margin and the line end of the old one."""
    end = "\r" if old.endswith("\r") else ""
    before, _, behind = old.removesuffix("\r").rpartition(line.text)
    return f"{before}{text}{behind}{end}"
