"""Finds Python's sessions in a page whose examples have no fences: `>>>` and `In [1]:`.

Where the text under an input is prose, its output has ended (see `prose`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from th_shell.docs.reading.blocks import Block, Line
from th_shell.docs.reading.cells import CELL, cells
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.prose import output_of, words_in
from th_shell.docs.reading.python import typed_inputs
from th_shell.docs.reading.python_syntax import PROMPT, syntax
from th_shell.syntax import Syntax


def with_sessions(
    lines: Sequence[str], fenced: Sequence[Block], quotes: bool = False
) -> Iterator[Block]:
    """The blocks of a text page: those with fences, and Python's sessions outside of them.

    A page with cells outside of fences is a notebook: there fences are the author's marks in prose.
    quotes: whether `>>>` may also be the mark of a quotation; then what is no code has no prompt.
    """
    numbered = [Line(number, text) for number, text in enumerate(lines, 1)]
    inside = {number for b in fenced for number in range(b.opening, b.closing + 1)}
    outside = [line for line in numbered if line.number not in inside]
    if any(CELL.match(line.text) for line in outside):
        fenced = list(_cell_blocks(numbered))
        inside = {number for b in fenced for number in range(b.opening, b.closing + 1)}
        outside = [line for line in numbered if line.number not in inside]
    if any(PROMPT.match(line.text) for line in outside):
        sessions = _session_blocks(outside, quotes)
        fenced = sorted([*fenced, *sessions], key=lambda block: block.opening)
    yield from fenced


def _cell_blocks(lines: Sequence[Line]) -> Iterator[Block]:
    for cell in cells(lines, with_prose=True):
        if cell.code:
            last = (cell.code + cell.output)[-1].number
            yield Block(cell.start, last, PYTHON, cell.code, output=cell.output)


def _session_blocks(lines: Sequence[Line], quotes: bool) -> Iterator[Block]:
    known: set[str] = set()
    for source, start, middle, end in typed_inputs(lines):
        if quotes and syntax(source) is Syntax.WRONG:
            continue
        known |= words_in(source)
        below = [line.text for line in lines[middle:end]]
        own = tuple(lines[start : middle + output_of(below, known, paragraphs=False)])
        yield Block(own[0].number, own[-1].number, PYTHON, own)
