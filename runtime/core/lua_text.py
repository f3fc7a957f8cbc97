"""Lua's text as tokens: code, and text that may end anywhere, as it does that is being typed.

All that is read of Lua's text without LuaJIT goes by these tokens, also what a page has that is no
Lua. `structure` finds some of them in a fraction of the time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

#: The words of Lua, and of LuaJIT, that are no names.
KEYWORDS = frozenset(
    "and break do else elseif end false for function goto if in local nil not or repeat "
    "return then true until while".split()
)

# A quote without a partner is a string where the text ends behind it, and a sign otherwise. Each
# text matches in one way only, so that a quote without a partner is found out in linear time.
_TEXTS = (
    r"(?:--)?\[(?P<level>=*)\[(?:[\s\S]*?(?P<long>\](?P=level)\])|[\s\S]*)|(?P<line>--[^\r\n]*)"
    r"|(?P<quote>[\"'])(?:\\(?:z\s*(?!\s)|[^z])|(?!(?P=quote))[^\\\r\n])*"
    r"(?:(?P<short>(?P=quote))|\Z)"
)
_NUMBER = r"0[xX](?:[pP][+-]|(?!\.\.)[\w.])*|\.?[0-9](?:[eE][+-]|(?!\.\.)[\w.])*"
# All but ASCII's controls, blanks, digits and signs: LuaJIT takes the letters of all languages.
# (A class of all characters from \x80 on would take ten times as long to compile.)
_NAME = r"[^\x00-@[-^`{-\x7f][^\x00-/:-@[-^`{-\x7f]*"
# Among the signs are operators of Lua 5.3, so that they can be told from those of LuaJIT.
_SIGN = r"\.\.\.|\.\.|::|//|<<|>>|[=~<>]=|\S"
_BLOCKS = "function|then|do|if|repeat|else|elseif|end|until"
_TOKEN = rf"{_TEXTS}|(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<sign>{_SIGN})"
_STRUCTURE = rf"{_TEXTS}|(?P<keyword>\b(?:{_BLOCKS})\b)|(?P<sign>[][(){{}}])"
_MARK = r"(?:--)?\[=*\[|\w*(?:'''|\"\"\"|['\"])"


_compiled = cache(re.compile)  # late: scripts do without


class Token(NamedTuple):
    """A token of Lua, or of Python.

    kind: 'comment', 'string', 'number', 'name', 'keyword' or 'sign'. start: from 0. is_open:
    whether it is a string or comment that what is typed next would belong to.
    """

    kind: str
    text: str
    start: int
    is_open: bool = False

    @property
    def end(self) -> int:
        """Return the position behind the token."""
        return self.start + len(self.text)

    @property
    def mark(self) -> str:
        """Return the opening quotes of a string or long comment, with a prefix as Python's."""
        match = _compiled(_MARK).match(self.text)
        return match[0] if match else ""

    @property
    def content(self) -> str:
        """Return the text of a string, without its marks."""
        size = len(self.mark)
        return self.text[size:] if self.is_open else self.text[size : len(self.text) - size]


def tokens(text: str, start: int = 0) -> list[Token]:
    """Return the tokens of a text from a position on, comments among them."""
    return [_token(match) for match in _compiled(_TOKEN).finditer(text, start)]


def structure(text: str) -> list[Token]:
    """Return the tokens that open and close blocks and brackets, and strings and comments.

    This takes a fraction of the time for all tokens.
    """
    return [_token(match) for match in _compiled(_STRUCTURE).finditer(text)]


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup or "", match[0]
    if kind == "name" and text in KEYWORDS:
        kind = "keyword"
    if kind in ("name", "keyword", "number", "sign"):
        return Token(kind, text, match.start())
    is_open = kind in ("level", "quote")  # neither of which is the group of what closes them
    return Token("comment" if text.startswith("--") else "string", text, match.start(), is_open)
