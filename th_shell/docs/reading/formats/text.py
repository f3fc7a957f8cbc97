"""Text pages, which may have been converted from Markdown, with damaged fences.

A scanner finds fences of backticks, of tildes, or of a curly quote and a backtick, at any
indentation, closed or not. Prompts may also stand outside of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from th_shell.docs.reading.examples import Block, Line
from th_shell.docs.reading.formats.sessions import complete, with_sessions
from th_shell.docs.reading.prose import is_alone

_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,}|[“”]`)\s*(?P<language>[\w.+-]*)(?:(?<!\s)\s+)?$")
_FENCE_MARKS = ("`", "~", "“", "”")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.*)$")
#: A line that is a heading if it stands alone: short, and no sentence.
_SHORT = re.compile(r"^[^\W_](?:.{0,58}[^\s.,:;!?…。])?$")


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Return the blocks of a text page, and its prompts outside of these."""
    blocks = list(with_sessions(lines, list(_fenced(lines))))
    inside = {line.number for block in blocks for line in block.lines}
    return complete(blocks, [h for h in _headings(lines) if h[0] not in inside], lines)


def _fenced(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks between fences, which may be damaged.

    A fence that names a language always opens a block, and closes one that is still open. A fence
    with a curly quote within a block that a fence without one has opened, or the other way round,
    comes from a page break and is left out.
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
    """Lines that begin with '#', and short lines between blank ones."""
    for at, text in enumerate(lines):
        if text.startswith("#"):
            if marked := _HEADING.match(text):
                yield at + 1, marked["text"].rstrip(" \t#")
        elif 0 < len(text) <= 60 and _SHORT.match(text) and is_alone(at, lines):
            yield at + 1, text
