"""Examples outside of blocks, and the headings of blocks: what the formats of texts share.

A line that begins with the prompt 'th> ' is an example wherever it stands. Its block has what
follows up to a blank line; beyond it, further prompts and what can only be part of a printed
tensor. Python's sessions, with `>>>` and `In [1]:`, need no fences, either: where the text under an
input is prose, its output has ended (see `prose`).
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace

from th_shell.docs.reading.cells import CELL, cells
from th_shell.docs.reading.examples import PRINTED, PYTHON, Block, Line, numbered
from th_shell.docs.reading.prose import output_of, words_in
from th_shell.docs.reading.python import typed_inputs
from th_shell.python_syntax import PROMPT, syntax
from th_shell.syntax import Syntax

_PROMPT = re.compile(r"^\s*th> ")
_PRINTED = re.compile(rf"^\s*(?:{PRINTED})\s*$")


def complete(
    blocks: Sequence[Block], headings: Sequence[tuple[int, str]], lines: Sequence[str]
) -> Iterator[Block]:
    """Yield a page's blocks with their headings, and its prompts outside of them, in order.

    headings: the line number and the text of each, in order.
    """
    unsorted = [*blocks, *_unfenced(blocks, lines)] if any(map(_PROMPT.match, lines)) else blocks
    numbers = [number for number, _ in headings]
    for block in sorted(unsorted, key=lambda block: block.lines[0].number):
        above = bisect(numbers, block.lines[0].number)
        yield replace(block, heading=headings[above - 1][1] if above else "")


def _unfenced(blocks: Sequence[Block], lines: Sequence[str]) -> Iterator[Block]:
    covered = {number for b in blocks for number in range(b.lines[0].number, b.closing + 1)}
    covered |= {block.opening for block in blocks}
    at = 0
    while at < len(lines):
        end = _end(at, covered, lines) if _PROMPT.match(lines[at]) else at
        if end > at:
            yield Block(at, end + 1, "th", numbered(lines[at:end], at + 1))
        at = max(end, at + 1)


def _end(start: int, covered: set[int], lines: Sequence[str]) -> int:
    """Return the index behind the last line of a block that begins with a prompt."""
    end = at = start
    while at < len(lines) and at + 1 not in covered:
        text = lines[at]
        if text.strip():
            above_is_blank = not lines[at - 1].strip()
            if at > start and above_is_blank and not (_PROMPT.match(text) or _PRINTED.match(text)):
                break
            end = at + 1
        at += 1
    return end


def with_sessions(
    lines: Sequence[str], fenced: Sequence[Block], quotes: bool = False
) -> Iterator[Block]:
    """Yield the blocks of a text page: those with fences, and Python's sessions outside of them.

    A page with cells outside of fences is a notebook: there fences are the author's marks in prose.
    quotes: whether `>>>` may also be the mark of a quotation; then what is no code has no prompt.
    """
    numbered = [Line(number, text) for number, text in enumerate(lines, 1)]
    outside = _outside(fenced, numbered)
    if any(CELL.match(line.text) for line in outside):
        fenced = list(_cell_blocks(numbered))
        outside = _outside(fenced, numbered)
    if any(PROMPT.match(line.text) for line in outside):
        sessions = _session_blocks(outside, quotes)
        fenced = sorted([*fenced, *sessions], key=lambda block: block.opening)
    yield from fenced


def _outside(blocks: Sequence[Block], lines: Sequence[Line]) -> list[Line]:
    inside = {number for b in blocks for number in range(b.opening, b.closing + 1)}
    return [line for line in lines if line.number not in inside]


def _cell_blocks(lines: Sequence[Line]) -> Iterator[Block]:
    for cell in cells(lines, with_prose=True):
        if cell.code:
            last = (cell.code + cell.output)[-1].number
            yield Block(cell.start, last, PYTHON, cell.code, output=cell.output)


def _session_blocks(lines: Sequence[Line], quotes: bool) -> Iterator[Block]:
    words: set[str] = set()
    for source, start, middle, end in typed_inputs(lines):
        if quotes and syntax(source) is Syntax.WRONG:
            continue
        words |= words_in(source)
        below = [line.text for line in lines[middle:end]]
        session = tuple(lines[start : middle + output_of(below, words, paragraphs=False)])
        yield Block(session[0].number, session[-1].number, PYTHON, session)
