"""Markdown pages, which markdown-it-py reads as CommonMark: fences, indented code, <pre> of HTML.

The parser takes its time for every line and every letter. What cannot matter to the structure of a
page is kept from it: most lines of prose, and what stands behind the first letter of the others.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from th_shell.docs.reading.examples import Block, Line
from th_shell.docs.reading.formats import html
from th_shell.docs.reading.formats.other_marks import as_fences
from th_shell.docs.reading.formats.text import complete, with_sessions
from th_shell.docs.reading.languages import DIRECTIVES, directed, fence_language, without_options
from th_shell.patterns import pattern

#: In the source of a heading: tags, the targets of links, and marks.
_MARKUP = pattern(r"<[^<>]*>|\]\([^()]*\)|[\[\]*`#\\]")
_UNDERLINE = pattern(r"\s[=-]+\s*$")
_FENCE = pattern(r"^[ \t]*(?:`{3}|~{3})", re.M)
#: A line that begins with a letter continues a paragraph or begins one; in a fence it is text, and
#: as long as it has no '>' it ends no tag.
_PROSE = pattern(r"^[A-Za-z][^>]*\Z")
#: An anchor on a line of its own, such as older Markdown let stand right above a fence.
_ANCHOR = pattern(r"^ {0,3}<a (?:name|id)=[^<>]*/?>\s*$")
_LETTER = pattern(r"^((?:[-*+] )?[A-Za-z])[^>]*\Z")


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Return the fences and the indented code of a page, and its prompts outside of these."""
    lines = as_fences(lines)
    blocks, headings = [], []
    outline = _outline(lines)
    texts = ("" if _ANCHOR.match(lines[at]) else _LETTER.sub(r"\1", lines[at]) for at in outline)
    for token in _parser().parse("\n".join(texts)):
        if token.map is None:
            continue
        start = outline[token.map[0]]
        end = outline[token.map[1]] if token.map[1] < len(outline) else len(lines)
        if token.type == "heading_open":
            headings.append((start + 1, _plain(" ".join(lines[start:end]))))
        elif token.type in ("fence", "code_block"):
            blocks.append(_block(token, outline, lines))
        elif token.type == "html_block" and "<pre" in token.content:
            blocks += html.find(lines[:end], start)
    return complete(list(with_sessions(lines, blocks, quotes=True)), headings, lines)


def _parser() -> MarkdownIt:
    # Only blocks are of interest, not what is within a paragraph. Each page has its own parser:
    # until the first use has put the rules in order, another thread would find only some of them.
    return MarkdownIt().disable(["inline", "text_join"])


def _outline(lines: Sequence[str]) -> list[int]:
    """Return the indices of the lines that tell a page's structure.

    Of paragraphs in a row these are the first lines of the first and the last, and the blank lines
    below these: how they hang together with what is above and below them. Blank lines at the end of
    the page are those of a fence that nothing closes.
    """
    last = max((at for at, line in enumerate(lines, 1) if line.strip(" \t")), default=0)
    indices: list[int] = []
    run: list[int] = []  # the first line of each paragraph, and one blank line below it
    for at, line in enumerate(lines[:last]):
        is_prose, is_blank = bool(_PROSE.match(line)), not line.strip(" \t")
        if is_prose and len(run) % 2 == 0 or is_blank and len(run) % 2:
            run.append(at)
        elif not (is_prose or is_blank and run):
            indices += _ends(run)
            indices.append(at)
            run = []
    return [*indices, *_ends(run), *range(last, len(lines))]


def _ends(run: list[int]) -> list[int]:
    """Return the first paragraph of a run and the last one, with the blank lines below."""
    return run[:2] + run[2:][len(run) % 2 - 2 :]


def _block(token: Token, outline: Sequence[int], lines: Sequence[str]) -> Block:
    assert token.map is not None
    first = token.map[0] + (token.type == "fence")
    texts = token.content.removesuffix("\n").split("\n") if token.content else []
    after = outline[first + len(texts)] if first + len(texts) < len(outline) else len(lines)
    start = outline[first - 1] + 1 if token.type == "fence" else outline[first]
    inside = dict(enumerate(lines[start:after], start))
    for at, text in zip(outline[first : first + len(texts)], texts, strict=False):
        if text != _LETTER.sub(r"\1", lines[at]):
            inside[at] = text  # without the margin of a list or a quotation
    numbered = tuple(Line(at + 1, text) for at, text in inside.items())
    language = fence_language(token.info)
    if not language and len(token.markup) > 3 and len(_FENCE.findall(token.content)) > 1:
        language = "markdown"  # it shows a page
    block = Block(start, after + 1, language, numbered or (Line(start + 1, ""),))
    if not token.info.startswith("{"):
        return block
    inner, options = without_options(block.lines)
    groups = token.info.partition("}")[2] if language in DIRECTIVES else ""
    return directed(replace(block, lines=inner or block.lines), groups, options)


def _plain(heading: str) -> str:
    """Return the words of a heading, without its anchors and marks."""
    return " ".join(_MARKUP.sub("", _UNDERLINE.sub("", heading)).split())
