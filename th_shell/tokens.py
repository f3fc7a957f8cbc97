"""The tokens of Lua text that may end anywhere, as text does that is being typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: The words of Lua, and of LuaJIT, that are no names.
KEYWORDS = frozenset(
    "and break do else elseif end false for function goto if in local nil not or repeat "
    "return then true until while".split()
)

_TEXTS = (
    r"(?P<comment>--\[(?P<c>=*)\[(?:[\s\S]*?\](?P=c)\]|[\s\S]*)|--[^\n]*)"
    r"|(?P<string>\[(?P<s>=*)\[(?:[\s\S]*?\](?P=s)\]|[\s\S]*)"
    r"|\"(?:\\[\s\S]|[^\\\n\"])*\"?|'(?:\\[\s\S]|[^\\\n'])*'?)"
)
_TOKEN = re.compile(
    rf"{_TEXTS}|(?P<number>\.?\d(?:[eEpP][+-]|(?!\.\.)[\w.])*)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\.\.\.|\.\.|::|[=~<>]=|\S)"
)
_BLOCKS = "function|then|do|repeat|else|elseif|end|until"
_STRUCTURE = re.compile(rf"{_TEXTS}|(?P<keyword>\b(?:{_BLOCKS})\b)|(?P<sign>[][(){{}}])")
# A comment of one line is never open: what is typed next, on the next line, is no part of it.
_CLOSED = {
    "comment": re.compile(r"--(?!\[=*\[)|--\[(=*)\[[\s\S]*\]\1\]\Z"),
    "string": re.compile(
        r"(?:\[(=*)\[[\s\S]*\]\1\]|\"(?:\\[\s\S]|[^\\\"])*\"|'(?:\\[\s\S]|[^\\'])*')\Z"
    ),
}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """A token. kind: 'comment', 'string', 'number', 'name', 'keyword' or 'sign'. start: from 0."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The position behind the token."""
        return self.start + len(self.text)

    @property
    def is_open(self) -> bool:
        """Whether it is a string or comment that what is typed next would belong to."""
        closed = _CLOSED.get(self.kind)
        return closed is not None and not closed.match(self.text)

    @property
    def content(self) -> str:
        """The text of a string, without its marks."""
        opening = re.match(r"\[=*\[|['\"]", self.text)
        size = len(opening[0]) if opening else 0
        return self.text[size:] if self.is_open else self.text[size : len(self.text) - size]


def tokens(text: str) -> list[Token]:
    """The tokens of a text, comments among them."""
    return [_token(match) for match in _TOKEN.finditer(text)]


def structure(text: str) -> list[Token]:
    """The tokens that open and close blocks and brackets, and strings and comments.

    This takes a fraction of the time for all tokens.
    """
    return [_token(match) for match in _STRUCTURE.finditer(text)]


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or "sign"
    if kind in ("c", "s"):
        kind = "comment" if match["comment"] is not None else "string"
    if kind == "name" and match[0] in KEYWORDS:
        kind = "keyword"
    return Token(kind, match[0], match.start())


def opening(code: Sequence[Token], at: int) -> int | None:
    """The index of the bracket that the one at an index closes; None where there is none."""
    return _partner(code, range(at, -1, -1))


def closing(code: Sequence[Token], at: int) -> int | None:
    """The index of the bracket that closes the one at an index; None where there is none."""
    return _partner(code, range(at, len(code)))


def _partner(code: Sequence[Token], order: Iterable[int]) -> int | None:
    """The index at which as many brackets are closed as were opened before, in some order."""
    depth = 0
    for at in order:
        if code[at].kind == "sign":
            depth += (code[at].text in _OPENING) - (code[at].text in _CLOSING)
        if not depth:
            return at
    return None
