"""Reads directives: what a page says of its examples in comments that its readers do not see.

    <!-- th-docs: skip reason="takes an hour" if="not env('CI')" -->
    .. th-docs page: rtol=1e-3
    > x:sum() -- th-docs: xfail reason="prints a digit too many"

A directive is a name with values, or values alone. `page` makes it hold for the whole page. What
stands behind `setup` and `teardown`, on one line or on several, is code. `placement` finds what
directives hold for.

Outside of blocks, directives are comments of HTML in Markdown, HTML and text pages, and of
reStructuredText in its pages; in other pages, also lines that begin with `--` or `#`. Within a
block they are comments of the code, and are taken out of it. What stands in code of another
language is no directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import NamedTuple

from th_shell.docs.reading.examples import Block, Line, PageText, edited, numbered
from th_shell.docs.reading.formats import FORMATS
from th_shell.docs.settings.options import read_layer
from th_shell.docs.settings.setting_readers import literal
from th_shell.docs.settings.settings import Layer, SettingsError

#: The word that such comments begin with.
WORD = "th-docs"

_HTML = r"<!--\s*(?P<text>th-docs\b.*?)(?P<end>-->|\Z)"
#: Other comments in Markdown, and code within its text: there are no directives in them.
#: (Their lengths are limited, so that many that do not end take little time.)
_OPAQUE = (
    r"<!--(?!\s*th-docs\b)(?:(?!<!--).)*?-->"
    r"|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).){0,1000}?(?<!`)\1(?!`)"
)
_IN_PAGE = re.compile(_HTML, re.S)
_IN_MARKDOWN = re.compile(f"{_OPAQUE}|{_HTML}", re.S)
_RST = re.compile(r"^(?P<margin>\s*)\.\.\s+(?P<text>th-docs\b.*)$")
_LINE = re.compile(r"^(?P<code>.*?)(?:(?<!-)-{2,}|(?<!#)#+|(?<!/)//+)\s*(?P<text>th-docs\b.*)$")
_FENCE = re.compile(r"^\s*(?:`{3}|~{3}).*")
#: What sybil has for `reset`: '.. clear-namespace', '<!--- clear-namespace -->', '% …' in MyST.
_CLEAR = re.compile(r"^\s*(?:\.\.|<!-{2,}|%)\s+clear-namespace\s*(?:-->\s*)?$")
_LONG = re.compile(r"^\s*--\[(?P<level>=*)\[\s*(?P<text>th-docs\b.*)$")


class Comment(NamedTuple):
    """A comment that begins with `th-docs`.

    line, last: its first and last line. text: without marks. block: the index of the block that it
    stands in, None outside of blocks. code: what stands before it on its line. closed: whether it
    has an end.
    """

    line: int
    last: int
    text: str
    block: int | None = None
    code: str = ""
    closed: bool = True


def find_comments(page: PageText) -> list[Comment]:
    """The comments of a page that begin with `th-docs`, in order."""
    if not any(WORD in line or "clear-namespace" in line for line in page.lines):
        return []
    found = [
        comment
        for number, block in enumerate(page.blocks)
        for comment in _inside(number, block.lines, FORMATS.get(page.suffix) == "lua")
    ]
    found += _outside(page)
    return sorted(found, key=lambda comment: comment.line)


def without_comments(blocks: Iterable[Block], comments: Iterable[Comment]) -> list[Block]:
    """The blocks with empty lines in place of comments, and without those behind code."""
    left = {
        number: (comment.code.rstrip() if number == comment.line else "",)
        for comment in comments
        if comment.block is not None
        for number in range(comment.line, comment.last + 1)
    }
    return [replace(block, lines=edited(block.lines, left)) for block in blocks]


# -- within blocks


def _inside(number: int | None, lines: Sequence[Line], is_comment: bool) -> Iterator[Comment]:
    """The comments of a block. is_comment: whether the block itself is part of a comment."""
    at = 0
    while at < len(lines):
        line = lines[at].number
        text = lines[at].text if WORD in lines[at].text else ""
        long, short = _LONG.match(text), _LINE.match(text)
        if long:
            end = f"]{long['level']}]"
            texts = [long["text"]]
            while end not in texts[-1] and at + 1 < len(lines):
                at += 1
                texts.append(lines[at].text)
            closed = end in texts[-1]
            text = _joined(texts).partition(end)[0]
            yield Comment(line, lines[at].number, text, number, closed=closed)
        elif is_comment and text.strip().startswith(WORD):
            yield Comment(line, line, text.strip(), number)
        elif short:
            yield Comment(line, line, short["text"], number, short["code"])
        at += 1


# -- outside of blocks


def _outside(page: PageText) -> Iterator[Comment]:
    code = page.other | {line.number for block in page.blocks for line in block.lines}
    # Between two fences nothing is code within a text.
    texts = [_FENCE.sub("", line) for line in page.lines]
    prose = ["" if at in code else line for at, line in enumerate(texts, 1)]
    kind = FORMATS.get(page.suffix)
    reset = ".. th-docs: reset" if kind == "rst" else "<!-- th-docs: reset -->"
    prose = [reset if _CLEAR.match(line) else line for line in prose]
    if kind == "rst":
        yield from _rst_comments(prose)
    elif kind != "notebook":  # whose lines are not those of its texts
        yield from _html_comments(prose, kind == "markdown")
        if kind not in ("markdown", "html"):
            found = _inside(None, numbered(prose, 1), False)
            yield from (one for one in found if not one.code.strip())


def _html_comments(prose: Sequence[str], is_markdown: bool) -> Iterator[Comment]:
    text = "\n".join(prose)
    for match in (_IN_MARKDOWN if is_markdown else _IN_PAGE).finditer(text):
        if match["text"]:
            line = text.count("\n", 0, match.start()) + 1
            last = line + match[0].rstrip().count("\n")
            yield Comment(line, last, _joined(match["text"].split("\n")), closed=bool(match["end"]))


def _rst_comments(prose: Sequence[str]) -> Iterator[Comment]:
    for number, text in enumerate(prose, 1):
        match = _RST.match(text)
        if not match:
            continue
        texts, last = [match["text"]], number
        for at, line in enumerate(prose[number:], number + 1):
            if line.strip() and _margin(line) <= len(match["margin"]):
                break
            texts.append(line)
            last = at if line.strip() else last
        yield Comment(number, last, _joined(texts[: last - number + 1]))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(texts: Sequence[str]) -> str:
    """The text of a comment, whose first line has lost its margin."""
    rest = dedent("\n".join(texts[1:]))
    return f"{texts[0]}\n{rest}".strip() if len(texts) > 1 else texts[0].strip()


#: The directives that have a name, and what must stand behind some of them.
_DIRECTIVES = ("skip", "xfail", "setup", "teardown", "filter", "capture", "reset")
_NEEDED = {"setup": "code", "teardown": "code", "capture": "names"}
_HEAD = re.compile(rf"{WORD}(?P<page>\s+page)?\s*:\s*")
#: A comment that would be a directive with a colon.
_NO_COLON = re.compile(rf"{WORD}\s+(?:page\s+)?(?:{'|'.join(_DIRECTIVES)})\b")
_NAME = re.compile(r"(?P<name>[A-Za-z][\w-]*)(?!\s*=)(?:\s+|\Z)")
_VALUE = re.compile(
    r"(?P<key>[A-Za-z][\w-]*)\s*=\s*"
    r"(?:\"(?P<double>(?:\\.|[^\"\\])*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"']+))(?:\s+|\Z)",
    re.S,
)
_ESCAPED = re.compile(r"\\([\"\\])")

_Table = dict[str, object]


class Directive(NamedTuple):
    """What one comment says. page: whether it says this of the whole page."""

    comment: Comment
    place: str
    page: bool
    layer: Layer


def read_directives(page: str, comments: Sequence[Comment]) -> list[Directive]:
    """The directives among comments of a page. page: its name. Raises SettingsError."""
    found = []
    for comment in comments:
        place = f"{page}:{comment.line}"
        head = _HEAD.match(comment.text)
        if head and not comment.closed:
            raise SettingsError(f"{place}: the comment has no end")
        if head:
            layer = read_layer(_table(comment.text[head.end() :], place), place)
            found.append(Directive(comment, place, bool(head["page"]), layer))
        elif _NO_COLON.match(comment.text):
            raise SettingsError(f"{place}: a directive is written '{WORD}: …' or '{WORD} page: …'")
    return found


def _table(text: str, place: str) -> _Table:
    """What a directive says, as a file of settings has it."""
    name = _NAME.match(text)
    if not name:
        return _values(text, place)
    word, rest = name["name"], text[name.end() :]
    if word not in _DIRECTIVES:
        known = ", ".join(_DIRECTIVES)
        raise SettingsError(f"{place}: unknown directive '{word}': there are {known}")
    if word == "filter":
        return {"filters": [_values(rest, place)]}
    if not rest.strip() and word in _NEEDED:
        raise SettingsError(f"{place}: {word} has no {_NEEDED[word]}")
    if word in ("skip", "xfail", "reset"):
        return {word: _values(rest, place) if rest.strip() else True}
    return {word: rest.split() if word == "capture" else rest.strip("\n")}


def _values(text: str, place: str) -> _Table:
    text = text.strip()
    if not text:
        raise SettingsError(f"{place}: the directive says nothing")
    found: _Table = {}
    at = 0
    while at < len(text):
        match = _VALUE.match(text, at)
        if not match:
            raise SettingsError(f"{place}: not 'key=value': {text[at:].split(chr(10))[0]}")
        if match["key"] in found:
            raise SettingsError(f"{place}: {match['key']}: said twice")
        found[match["key"]] = _value(match)
        at = match.end()
    return found


def _value(match: re.Match[str]) -> object:
    if match["double"] is not None:
        return _ESCAPED.sub(r"\1", match["double"])
    if match["single"] is not None:
        return match["single"]
    return literal(match["bare"])
