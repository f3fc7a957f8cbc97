"""Reads directives: settings of examples in comments of a page, which its readers do not see.

    <!-- th-docs: skip reason="takes an hour" unless_env="CI" -->
    .. th-docs page: rtol=1e-3
    > x:sum() -- th-docs: xfail reason="prints a digit too many"

A directive is a name with values, or values alone. `page` makes it hold for the whole page. What
stands behind `setup` and `teardown`, on one line or on several, is code. The second half of the
module finds the examples that directives hold for.

Outside of blocks, directives are comments of HTML in Markdown, HTML and text pages, and of
reStructuredText in its pages; in other pages, also lines that begin with `--` or `#`. Within a
block they are comments of the code, and are taken out of it. What stands in code of another
language is no directive.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import NamedTuple

from th_shell.docs.reading.classification import examples_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import (
    Block,
    Example,
    Kind,
    Line,
    PageText,
    Role,
    edited,
    numbered,
)
from th_shell.docs.reading.formats import FORMATS
from th_shell.docs.reading.python import hidden_code
from th_shell.docs.settings.options import literal, read_layer
from th_shell.docs.settings.settings import NOTHING, Hidden, Layer, SettingsError
from th_shell.docs.settings.sidecar import Placed, Sidecar
from th_shell.patterns import pattern

#: The word that such comments begin with.
WORD = "th-docs"

_HTML = r"<!--\s*(?P<text>th-docs\b.*?)(?P<end>-->|\Z)"
#: Other comments in Markdown, and code within its text: there are no directives in them.
#: (Their lengths are limited, so that many that do not end take little time.)
_OPAQUE = (
    r"<!--(?!\s*th-docs\b)(?:(?!<!--).)*?-->"
    r"|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).){0,1000}?(?<!`)\1(?!`)"
)
_IN_PAGE = pattern(_HTML, re.S)
_IN_MARKDOWN = pattern(f"{_OPAQUE}|{_HTML}", re.S)
_RST = pattern(r"^(?P<margin>\s*)\.\.\s+(?P<text>th-docs\b.*)$")
_LINE = pattern(r"^(?P<code>.*?)(?:(?<![-!])-{2,}|(?<!#)#+|(?<!/)//+)\s*(?P<text>th-docs\b.*)$")
_FENCE = pattern(r"^\s*(?:`{3}|~{3}).*")
#: Sybil's `reset`: '.. clear-namespace', '<!--- clear-namespace -->', '% …' in MyST.
_CLEAR = pattern(r"^\s*(?:\.\.|<!-{2,}|%)\s+clear-namespace\s*(?:-->\s*)?$")


class Comment(NamedTuple):
    """A comment that begins with `th-docs`."""

    #: Its first line.
    line: int
    #: Its last line.
    last: int
    #: The text without marks.
    text: str
    #: The index of the block that it stands in, None outside of blocks.
    block: int | None = None
    #: The code before it on its line.
    code: str = ""
    #: True if it has an end.
    closed: bool = True


def find_comments(page: PageText) -> list[Comment]:
    """Return the comments of a page that begin with `th-docs`, in order."""
    if not any(WORD in line or "clear-namespace" in line for line in page.lines):
        return []
    comments = [
        comment
        for number, block in enumerate(page.blocks)
        for comment in _inside(number, block.lines, FORMATS.get(page.suffix) == "lua")
    ]
    comments += _outside(page)
    return sorted(comments, key=lambda comment: comment.line)


def without_comments(blocks: Iterable[Block], comments: Iterable[Comment]) -> list[Block]:
    """Return the blocks with empty lines in place of comments, and without those behind code."""
    left = {
        number: (comment.code.rstrip() if number == comment.line else "",)
        for comment in comments
        if comment.block is not None
        for number in range(comment.line, comment.last + 1)
    }
    return [replace(block, lines=edited(block.lines, left)) for block in blocks]


# -- within blocks


def _inside(number: int | None, lines: Sequence[Line], is_comment: bool) -> Iterator[Comment]:
    """Yield the comments of a block. is_comment: whether the block itself is part of a comment."""
    for line in lines:
        match = _LINE.match(line.text) if WORD in line.text else None
        if is_comment and line.text.strip().startswith(WORD):
            yield Comment(line.number, line.number, line.text.strip(), number)
        elif match:
            yield Comment(line.number, line.number, match["text"], number, match["code"])


# -- outside of blocks


def _outside(page: PageText) -> Iterator[Comment]:
    code = page.unread_lines | {line.number for block in page.blocks for line in block.lines}
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
            comments = _inside(None, numbered(prose, 1), False)
            yield from (comment for comment in comments if not comment.code.strip())


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
    """Return the text of a comment, whose first line has lost its margin."""
    below = dedent("\n".join(texts[1:]))
    return f"{texts[0]}\n{below}".strip() if len(texts) > 1 else texts[0].strip()


#: The directives that have a name, and what must stand behind some of them.
_DIRECTIVES = ("skip", "xfail", "setup", "teardown", "filter", "reset")
_HEAD = pattern(rf"{WORD}(?P<page>\s+page)?\s*:\s*")
#: A comment that would be a directive with a colon.
_NO_COLON = pattern(rf"{WORD}\s+(?:page\s+)?(?:{'|'.join(_DIRECTIVES)})\b")
_NAME = pattern(r"(?P<name>[A-Za-z][\w-]*)(?!\s*=)(?:\s+|\Z)")
_VALUE = pattern(
    r"(?P<key>[A-Za-z][\w-]*)\s*=\s*"
    r"(?:\"(?P<double>(?:\\.|[^\"\\])*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"']+))(?:\s+|\Z)",
    re.S,
)
_ESCAPED = pattern(r"\\([\"\\])")

_Table = dict[str, object]


class Directive(NamedTuple):
    """A comment that has been read."""

    comment: Comment
    #: The name of the page and the line, for messages.
    place: str
    #: True if it holds for the whole page.
    page: bool
    #: All that the comment sets.
    layer: Layer


def read_directives(page: str, comments: Sequence[Comment]) -> list[Directive]:
    """Return the directives among comments of a page. page: its name. Raises SettingsError."""
    directives = []
    for comment in comments:
        place = f"{page}:{comment.line}"
        head = _HEAD.match(comment.text)
        if head and not comment.closed:
            raise SettingsError(f"{place}: the comment has no end")
        if head:
            layer = read_layer(_table(comment.text[head.end() :], place), place)
            directives.append(Directive(comment, place, bool(head["page"]), layer))
        elif _NO_COLON.match(comment.text):
            raise SettingsError(f"{place}: a directive is written '{WORD}: …' or '{WORD} page: …'")
    return directives


def _table(text: str, place: str) -> _Table:
    """Return the content of a directive as a table of a file of settings."""
    name = _NAME.match(text)
    if not name:
        return _values(text, place)
    word, content = name["name"], text[name.end() :]
    if word not in _DIRECTIVES:
        names = ", ".join(_DIRECTIVES)
        raise SettingsError(f"{place}: unknown directive '{word}': there are {names}")
    if word == "filter":
        return {"filters": [_values(content, place)]}
    if word in ("skip", "xfail", "reset"):
        return {word: _values(content, place) if content.strip() else True}
    if not content.strip():
        raise SettingsError(f"{place}: {word} has no code")
    return {word: content.strip("\n")}


def _values(text: str, place: str) -> _Table:
    text = text.strip()
    if not text:
        raise SettingsError(f"{place}: the directive says nothing")
    values: _Table = {}
    at = 0
    while at < len(text):
        match = _VALUE.match(text, at)
        if not match:
            raise SettingsError(f"{place}: not 'key=value': {text[at:].split(chr(10))[0]}")
        if match["key"] in values:
            raise SettingsError(f"{place}: {match['key']}: said twice")
        values[match["key"]] = _value(match)
        at = match.end()
    return values


def _value(match: re.Match[str]) -> object:
    if match["double"] is not None:
        return _ESCAPED.sub(r"\1", match["double"])
    if match["single"] is not None:
        return match["single"]
    return literal(match["bare"])


# -- placement
#
# Outside of blocks, a directive holds for the block right under it; within a block, for the input
# that it stands behind, or for the one under it; with `page`, for the page. `setup` is done before
# the next example, wherever that is, with which a new session begins after `reset`; `teardown` is
# done at the end of the session that it stands in. A directive that holds for nothing is an error.


def cut_with_settings(
    page: PageText,
    compiler: Compiler,
    below: Layer = NOTHING,
    files: Sequence[Sidecar] = (),
    locals_stay: bool = False,
) -> tuple[Sequence[Block], Sequence[Example]]:
    """Return a page's blocks without directives, and their examples with their settings.

    below: rules for the whole page from elsewhere. files: its sidecar files. locals_stay: whether
    their engine keeps the locals of one for the next. Raises OSError and SettingsError.
    """
    comments = find_comments(page)
    blocks = without_comments(page.blocks, comments)
    examples = examples_of(blocks, compiler, locals_stay)
    placed = [Placed(0, below, range(len(examples)), "")]
    placed += [entry for file in files for entry in file.layers(examples)]
    finder = _Finder(page, examples, comments)
    placed += [finder.placed(directive) for directive in read_directives(page.name, comments)]
    placed += _prepared(page.name, blocks, examples)
    placed.sort(key=lambda layer: layer.rank)
    return blocks, _in_sessions(_with_layers(examples, placed))


#: The kinds of hidden code by the roles of blocks.
_HIDDEN = {Role.SETUP: "setup", Role.TEARDOWN: "teardown"}
_ALL_GROUPS = "*"


def _prepared(page: str, blocks: Sequence[Block], examples: Sequence[Example]) -> Iterator[Placed]:
    """Yield the code of blocks that is run for the examples of their groups: testsetup's."""
    for block in blocks:
        if block.role not in _HIDDEN:
            continue
        members = [(i, e.group) for i, e in enumerate(examples) if e.language == block.language]
        groups = {group for _, group in members}
        place = f"{page}:{block.opening}"
        code = hidden_code(block.lines)
        layer = Layer(hidden=(Hidden(_HIDDEN[block.role], code, place),))
        for group in groups if block.group == _ALL_GROUPS else {block.group} & groups:
            indices = [i for i, name in members if name == group]
            yield Placed(4, layer, indices, place)


def _with_layers(examples: Sequence[Example], placed: Iterable[Placed]) -> list[Example]:
    with_settings = list(examples)
    for entry in placed:
        for at in entry.examples if entry.layer.settings != NOTHING.settings else ():
            settings = entry.layer.settings.over(with_settings[at].settings)
            with_settings[at] = replace(with_settings[at], settings=settings)
        if entry.layer.hidden and entry.examples:
            first = entry.examples[0]
            hidden = (*with_settings[first].hidden, *entry.layer.hidden)
            with_settings[first] = replace(with_settings[first], hidden=hidden)
    return with_settings


def _in_sessions(examples: Iterable[Example]) -> list[Example]:
    """Return examples, whose groups get new names wherever a new session begins."""
    renamed: list[Example] = []
    resets = 0
    for example in examples:
        resets += bool(example.settings.reset)
        group = f"{example.group}\n{resets}"
        renamed.append(replace(example, group=group) if resets else example)
    return renamed


class _Finder:
    """Finds the examples that the directives of one page hold for."""

    def __init__(
        self, page: PageText, examples: Sequence[Example], comments: Iterable[Comment]
    ) -> None:
        self._page, self._examples = page, examples
        self._covered = {
            number for comment in comments for number in range(comment.line, comment.last + 1)
        }

    def placed(self, directive: Directive) -> Placed:
        """Return a directive's layer with its examples. Raises SettingsError."""
        rank, examples, why = self._find(directive)
        if not examples:
            raise SettingsError(f"{directive.place}: the directive holds for nothing: {why}")
        return Placed(rank, directive.layer, examples, directive.place)

    def _find(self, directive: Directive) -> tuple[int, Sequence[int], str]:
        """Return the rank, the examples, and why there are none."""
        comment = directive.comment
        kinds = {hidden.kind for hidden in directive.layer.hidden}
        if directive.page or "teardown" in kinds:
            lines = [] if directive.page else [example.line for example in self._examples]
            above = [at for at, line in enumerate(lines) if line < comment.line][-1:]
            return 2, above or range(len(self._examples)), "the page has no examples"
        is_next = "setup" in kinds or directive.layer.settings.reset is True
        if comment.block is not None:
            return 5, *self._in_block(comment, comment.block, is_next)
        if is_next:
            return 5, self._next(comment), "no example follows"
        return 3, self._under(comment), "no block of examples stands right under it"

    def _in_block(self, comment: Comment, block: int, is_next: bool) -> tuple[Sequence[int], str]:
        examples = self._examples
        for at, example in enumerate(examples):
            if example.block != block or not example.line <= comment.line <= example.end:
                continue
            if comment.code.strip() and example.source and comment.line <= example.last:
                return [at], ""
            return [], "it stands within an example, neither behind an input nor before one"
        if comment.code.strip():
            return [], "it stands behind no input"
        indices = self._next(comment)
        if is_next:
            return indices, "no example follows"
        if not indices or examples[indices[0]].block != block:
            return [], "no example follows in its block"
        is_text = examples[indices[0]].kind is Kind.TEXT
        return ([], "what follows is no input") if is_text else (indices, "")

    def _next(self, comment: Comment) -> Sequence[int]:
        return [at for at, example in enumerate(self._examples) if example.line > comment.last][:1]

    def _under(self, comment: Comment) -> Sequence[int]:
        for number, block in enumerate(self._page.blocks):
            start = block.opening
            if start <= comment.last and block.lines:
                start = block.lines[0].number
            if start > comment.last:
                between = range(comment.last + 1, start)
                if any(at not in self._covered and self._has_text(at) for at in between):
                    return []
                return [at for at, example in enumerate(self._examples) if example.block == number]
        return []

    def _has_text(self, number: int) -> bool:
        """Return whether a line has something: more than the mark of a comment in Lua."""
        return bool(self._page.lines[number - 1].strip().strip("-"))
