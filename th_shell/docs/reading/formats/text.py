"""Text pages, which may have been converted from Markdown, with damaged fences.

A scanner finds fences of backticks, of tildes, or of a curly quote and a backtick, at any
indentation, closed or not.

A text with directives, `.. code-block::`, is read as reStructuredText.

Prompts may also stand outside of them, as in Markdown and reStructuredText. In a text, `> ` is one
below a line that starts a shell, such as `$ torch`, and where all lines that begin so look like
code of Lua. A line that begins with
the prompt 'th> ' is an example wherever it stands. Its block has what follows up to a blank line;
beyond it, further prompts and what can only be part of a printed tensor. Python's sessions, with
`>>>` and `In [1]:`, need no fences, either: where the text under an input is prose, its output has
ended (see `prose`).
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace

from th_shell.docs.reading.cells import CELL, cells
from th_shell.docs.reading.examples import PRINTED, PYTHON, Block, Line, numbered
from th_shell.docs.reading.formats import reader
from th_shell.docs.reading.formats.dokuwiki import tagged
from th_shell.docs.reading.formats.other_marks import as_fences
from th_shell.docs.reading.languages import NAMED_PROMPT, STARTS
from th_shell.docs.reading.prose import is_alone, output_of, words_in
from th_shell.docs.reading.python import typed_inputs
from th_shell.patterns import pattern
from th_shell.python_syntax import PROMPT, syntax
from th_shell.syntax import Syntax

_FENCE = pattern(r"^\s*(?P<mark>`{3,}|~{3,}|[“”]`)\s*(?P<language>[\w.+-]*)(?:(?<!\s)\s+)?$")
_FENCE_MARKS = ("`", "~", "“", "”")
_HEADING = pattern(r"^#{1,6}\s+(?P<text>.*)$")
#: A directive of reStructuredText.
_DIRECTIVE = pattern(r"\.\. [\w-]+::(?:\s|$)")
#: A line that is a heading if it stands alone: short, and no sentence.
_SHORT = pattern(r"^[^\W_](?:.{0,58}[^\s.,:;!?…。])?$")


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Return the blocks of a text page, and blocks of the prompts outside of fences."""
    return reader(".rst")(lines) if any(map(_DIRECTIVE.match, lines)) else _found(as_fences(lines))


def _found(lines: Sequence[str]) -> Iterator[Block]:
    of_tags, rest = tagged(lines)
    fenced = sorted([*of_tags, *_fenced(rest)], key=lambda block: block.opening)
    blocks = list(with_sessions(lines, fenced))
    inside = {line.number for block in blocks for line in block.lines}
    blocks += [block for block in _started(lines) if block.lines[0].number not in inside]
    inside |= {line.number for block in blocks for line in block.lines}
    blocks += _typed(lines, inside)
    return complete(blocks, [h for h in _headings(lines) if h[0] not in inside], lines)


def _started(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the sessions with prompts `> ` right below a line that starts a shell of Lua."""
    for at in range(1, len(lines)):
        if lines[at].lstrip().startswith("> ") and STARTS.match(lines[at - 1]):
            below = (end for end in range(at, len(lines)) if not lines[end].strip())
            end = next(below, len(lines))
            yield Block(at, end + 1, "th", numbered(lines[at:end], at + 1))


def _typed(lines: Sequence[str], covered: set[int]) -> Iterator[Block]:
    """Yield the sessions with prompts `> ` where all of them look like code of Lua."""
    typed = [text for at, text in enumerate(lines, 1) if _QUOTE.match(text) and at not in covered]
    is_code = len(typed) > 1 and all(map(_CODE.match, typed)) and any(map(_OF_LUA.search, typed))
    return _sessions(_QUOTE, covered, lines) if is_code else iter(())


def _fenced(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks between fences, which may be damaged.

    A fence that names a language always opens a block, and closes one that is still open. Page
    breaks leave fences of the other kind (with or without a curly quote) within blocks: these are
    ignored.
    """
    mark, language, opening = "", "", 0
    content: list[Line] = []
    for number, text in enumerate(lines, 1):
        fence = _FENCE.match(text) if text.lstrip().startswith(_FENCE_MARKS) else None
        if fence and mark and _is_curly(fence["mark"]) is not _is_curly(mark):
            continue
        if fence and mark and not fence["language"] and _closes(mark, fence["mark"]):
            yield _block(opening, number, language, content)
            mark = ""
        elif fence and (fence["language"] or not mark and not _is_curly(fence["mark"])):
            if mark:
                yield _block(opening, number, language, content)
            mark, language, opening = fence["mark"], fence["language"].lower(), number
            content = []
        elif mark:
            content.append(Line(number, text))
    if mark:
        yield _block(opening, len(lines) + 1, language, content)


def _block(opening: int, closing: int, language: str, content: list[Line]) -> Block:
    return Block(opening, closing, language, tuple(content) or (Line(opening + 1, ""),))


def _is_curly(mark: str) -> bool:
    return mark[0] in "“”"


def _closes(opened: str, mark: str) -> bool:
    return _is_curly(mark) or (mark[0] == opened[0] and len(mark) >= len(opened))


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each heading: lines with '#', and short ones that stand alone.

    In DokuWiki `=` stands around it.
    """
    for at, text in enumerate(lines):
        if text.startswith("==") and text.endswith("=="):
            if title := text.strip("= \t"):
                yield at + 1, title
        elif text.startswith("#"):
            if marked := _HEADING.match(text):
                yield at + 1, marked["text"].rstrip(" \t#")
        elif 0 < len(text) <= 60 and _SHORT.match(text) and is_alone(at, lines):
            yield at + 1, text


# -- examples outside of blocks, and the headings of blocks

_PROMPT = pattern(rf"^\s*{NAMED_PROMPT}")
#: The last line of a printed tensor.
_LAST_LINE = pattern(r"^\s*\[torch\.\w+ of (?:size|dimension) [\dx]+\]\s*$")
_PRINTED = pattern(rf"^\s*(?:{PRINTED})\s*$")
#: A prompt that may also be the mark of a quotation, behind it what begins like code, and what is
#: Torch7's.
_QUOTE = pattern(r"^\s*> ?\S")
_CODE = pattern(r"^\s*> ?(?:=|--|[A-Za-z_][\w.]*(?:\s*[=(\[:{]|\s*$|\s*,\s*\w+\s*=|\s+['\"]\w))")
_OF_LUA = pattern(
    r"\b(?:torch|nn|optim|string|table|math|io|os)\.\w|\brequire\b"
    r"|\b(?:print|i?pairs|to(?:string|number)|type|setmetatable)\s?\("
)


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
    return _sessions(_PROMPT, covered | {block.opening for block in blocks}, lines)


def _sessions(prompt: re.Pattern[str], covered: set[int], lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks that begin with a prompt, outside of the lines that are covered."""
    at = 0
    while at < len(lines):
        end = _end(at, prompt, covered, lines) if prompt.match(lines[at]) else at
        if end > at:
            yield Block(at, end + 1, "th", numbered(lines[at:end], at + 1))
        at = max(end, at + 1)


def _end(start: int, prompt: re.Pattern[str], covered: set[int], lines: Sequence[str]) -> int:
    """Return the index behind the last line of a block that begins with a prompt."""
    end = at = start
    while at < len(lines) and at + 1 not in covered:
        text = lines[at]
        if text.strip():
            above_is_blank = not lines[at - 1].strip()
            is_behind = above_is_blank or _LAST_LINE.match(lines[at - 1])
            if at > start and is_behind and not (prompt.match(text) or _PRINTED.match(text)):
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
