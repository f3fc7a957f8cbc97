"""Syntax highlighting of inputs, line by line.

What a line looks like depends on its text and on the long string or comment that is open before
it; both together are remembered. So a key in a long input costs the highlighting of one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from prompt_toolkit.styles.pygments import pygments_token_to_classname

from th_shell.session.commands import is_command

_REMEMBERED = 20_000  # lines
_COMMENT, _STRING = "class:pygments.comment", "class:pygments.literal.string"
_MARK = re.compile(
    r"(?P<comment>--)?\[(?P<level>=*)\[|--.*"
    r"|(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\])*(?:(?P=quote)|(?P<more>\\)?$)"
)


class _Open(NamedTuple):
    """A string or comment that goes on in the next line, and what ends it."""

    style: str
    closing: str


class _Line(NamedTuple):
    """A highlighted line, and what is open behind it."""

    parts: StyleAndTextTuples
    open: _Open | None


class InputLexer(Lexer):
    """Highlights Lua code; a line '? name' or '$ command' has a single colour."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The styled parts of each line."""
        if not document.text:
            return lambda number: []
        lines = document.lines
        if is_command(document.text):
            return lambda number: [("class:command", lines[number])]
        before: list[_Open | None] = [None]  # what is open before each line, as far as is known

        def parts(number: int) -> StyleAndTextTuples:
            if number >= len(lines):
                return []
            while len(before) <= number:
                before.append(_line(lines[len(before) - 1], before[-1]).open)
            return _line(lines[number], before[number]).parts

        return parts


class PythonInputLexer(Lexer):
    """Highlights Python code. is_command: whether a text is for the shell itself."""

    def __init__(self, is_command: Callable[[str], bool]) -> None:
        self._is_command = is_command

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The styled parts of each line."""
        if self._is_command(document.text):
            lines = document.lines
            return lambda number: [("class:command", lines[number])] if number < len(lines) else []
        return _python().lex_document(document)


@cache
def _python() -> Lexer:
    from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]  # late, as above

    return PygmentsLexer(PythonLexer)


@lru_cache(maxsize=_REMEMBERED)
def _line(text: str, opened: _Open | None) -> _Line:
    parts: StyleAndTextTuples = []
    at = 0
    if opened:
        at, still = _end(text, opened)
        parts.append((opened.style, text[:at]))
        if still:
            return _Line(parts, opened)
    start = at
    while mark := _MARK.search(text, at):
        opening = _opening(mark)
        if opening is None:
            at = mark.end()
            continue
        at, still = _end(text, opening, mark.end())
        if still:
            tail: StyleAndTextTuples = [(opening.style, text[mark.start() :])]
            return _Line(parts + _code(text[start : mark.start()]) + tail, opening)
    return _Line(parts + _code(text[start:]), None)


def _opening(mark: re.Match[str]) -> _Open | None:
    """What begins at a match and may go on in the next line."""
    if mark["level"] is not None:
        return _Open(_COMMENT if mark["comment"] else _STRING, f"]{mark['level']}]")
    return _Open(_STRING, mark["quote"]) if mark["more"] else None


def _end(text: str, opened: _Open, at: int = 0) -> tuple[int, bool]:
    """Where a string or comment ends that is open at a position, and whether it stays open."""
    if opened.closing.startswith("]"):
        found = text.find(opened.closing, at)
        return (len(text), True) if found < 0 else (found + len(opened.closing), False)
    if at == len(text) and at:  # the backslash that makes it go on
        return at, True
    quote = opened.closing
    inside = re.compile(rf"(?:\\.|[^\\{quote}])*(?:({quote})|(\\)?$)").match(text, at)
    return (inside.end(), bool(inside[2])) if inside else (len(text), False)


def _code(text: str) -> StyleAndTextTuples:
    """The parts of code in which all strings and comments are closed."""
    return [
        (f"class:{pygments_token_to_classname(kind)}", part)
        for kind, part in (_pygments().get_tokens(text) if text else ())
    ]


@cache
def _pygments() -> Any:
    # Late: the first prompt does without.
    from pygments.lexers.scripting import LuaLexer  # type: ignore[import-untyped]

    return LuaLexer(stripnl=False, ensurenl=False)
