"""Finds the code blocks of a page, whose lines may be examples.

Markdown pages are read with markdown-it-py. Other pages may be texts that were converted from
Markdown, with damaged fences: a scanner finds fences of backticks, of tildes, or of a curly quote
and a backtick, at any indentation, closed or not. Blocks with only blank lines between them are
joined, since page breaks split blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from markdown_it import MarkdownIt

__all__ = ["Block", "Line", "read_page", "text_blocks"]

#: The languages after an opening fence whose blocks are Lua.
_LUA = frozenset(("", "lua", "luajit", "th", "torch"))

_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,}|[“”]`)\s*(?P<language>[\w.+-]*)\s*$")

#: In the source of a heading: tags, the targets of links, and marks.
_MARKUP = re.compile(r"<[^<>]*>|\]\([^()]*\)|[\[\]*`#\\]")


@dataclass(frozen=True)
class Line:
    """A line of a page; number: counted from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Block:
    """The lines between two fences.

    opening, closing: the line numbers of the fences. heading: the text of the heading above, ''
    where there is none.
    """

    opening: int
    closing: int
    language: str
    lines: tuple[Line, ...]
    heading: str = ""


def read_page(path: Path) -> list[Block]:
    """The blocks of a page that may be Lua, in order. Raises OSError."""
    text = path.read_bytes().decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
    # In Lua a no-break space is part of a name; in a page it is a space.
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in text.split("\n")]
    find = _markdown_blocks if path.suffix.lower() in (".md", ".markdown") else text_blocks
    blocks = _joined(find(lines), lines)
    return [block for block in blocks if block.language in _LUA]


def _markdown_blocks(lines: list[str]) -> Iterator[Block]:
    heading = before = ""
    for token in MarkdownIt().parse("\n".join(lines)):
        if before == "heading_open":
            heading = _plain(token.content)
        before = token.type
        if token.type != "fence" or token.map is None:
            continue
        opening = token.map[0] + 1
        content = token.content.removesuffix("\n").split("\n")
        numbered = tuple(Line(opening + i, text) for i, text in enumerate(content, 1))
        language = (token.info.split() or [""])[0].lower()
        closing = opening + len(content) + 1
        yield Block(opening, closing, language, numbered, heading=heading)


def _plain(heading: str) -> str:
    """The words of a heading, without its anchors and marks."""
    return " ".join(_MARKUP.sub("", heading).split())


def text_blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks of a text page, whose fences may be damaged.

    A fence that names a language always opens a block, and closes one that is still open. A fence
    with a curly quote within a block that a fence without one has opened, or the other way round,
    comes from a page break and is left out.
    """
    mark, language, opening = "", "", 0
    content: list[Line] = []
    for number, text in enumerate(lines, 1):
        fence = _FENCE.match(text)
        if fence and mark and _is_curly(fence["mark"]) is not _is_curly(mark):
            continue
        if fence and mark and not fence["language"] and _closes(mark, fence["mark"]):
            yield Block(opening, number, language, tuple(content))
            mark = ""
        elif fence and (fence["language"] or not mark and not _is_curly(fence["mark"])):
            if mark:
                yield Block(opening, number, language, tuple(content))
            mark, language, opening = fence["mark"], fence["language"].lower(), number
            content = []
        elif mark:
            content.append(Line(number, text))
    if mark:
        yield Block(opening, len(lines) + 1, language, tuple(content))


def _is_curly(mark: str) -> bool:
    return mark[0] in "“”"


def _closes(opened: str, mark: str) -> bool:
    return _is_curly(mark) or (mark[0] == opened[0] and len(mark) >= len(opened))


def _joined(blocks: Iterator[Block], lines: list[str]) -> Iterator[Block]:
    last: Block | None = None
    for block in blocks:
        if last and _continues(block, last, lines):
            both = last.lines + block.lines
            last = replace(last, closing=block.closing, lines=both)
            continue
        if last:
            yield last
        last = block
    if last:
        yield last


def _continues(block: Block, last: Block, lines: list[str]) -> bool:
    between = lines[last.closing : block.opening - 1]
    same = block.language in ("", last.language)
    return same and not any(text.strip() for text in between)
