"""Splits Lua source into tokens.

It knows the operators of Lua 5.3, too, so that an error of LuaJIT's compiler can be told from a
program for another Lua. Comments and white space are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from th_shell.tokens import KEYWORDS

END = "end of file"

_TOKEN = re.compile(
    r"""
      (?P<space>  \s+ | --\[(?P<c>=*)\[ .*? (?:\](?P=c)\]|\Z) | --[^\n]* )
    | (?P<name>   [A-Za-z_\x80-\U0010ffff\udc80-\udcff][\w\x80-\U0010ffff\udc80-\udcff]* )
    | (?P<string> \[(?P<s>=*)\[ .*? (?:\](?P=s)\]|\Z)
                  | "[^"\\\n]*(?:\\(?:z\s*|.)[^"\\\n]*)*" | '[^'\\\n]*(?:\\(?:z\s*|.)[^'\\\n]*)*' )
    | (?P<number> (?:0[xX][0-9A-Fa-f]*\.?[0-9A-Fa-f]*(?:[pP][+-]?\d+)?
                  | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?:[uU]?[lL][lL]|[iI])? )
    | (?P<symbol> \.\.\. | \.\. | == | ~= | <= | >= | << | >> | // | :: | . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


class Token(NamedTuple):
    """kind: 'name', 'keyword', 'string', 'number', 'symbol' or END. at: its offset."""

    kind: str
    text: str
    at: int


def tokens(source: str) -> Iterator[Token]:
    """The tokens of a source, behind a first line that begins with #; the last one is END."""
    start = 0
    if source.startswith("#"):
        start = source.find("\n") % (len(source) + 1)
    for match in _TOKEN.finditer(source, start):
        kind = match.lastgroup or ""
        if kind == "space":
            continue
        text = match[0]
        if kind == "name" and text in KEYWORDS:
            kind = "keyword"
        yield Token(kind, text, match.start())
    yield Token(END, "", len(source))
