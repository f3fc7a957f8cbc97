"""The tokens of Python text that may end anywhere, as text does that is being typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_LONG = "|".join(
    rf"{quote * 3}(?:\\[\s\S]|(?!{quote * 3})[^\\])*(?P<long{at}>{quote * 3})?"
    for at, quote in enumerate("'\"")
)
_SHORT = "|".join(
    rf"{quote}(?:\\[\s\S]|[^\\\n{quote}])*(?P<short{at}>{quote})?" for at, quote in enumerate("'\"")
)
_TOKEN = re.compile(
    rf"(?P<comment>\#[^\n]*)|(?P<string>(?i:[bruf]{{0,2}})(?:{_LONG}|{_SHORT}))"
    r"|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)|(?P<name>[^\W\d]\w*)|(?P<sign>\S)"
)
_ENDS = ("long0", "long1", "short0", "short1")


class Token(NamedTuple):
    """A token. kind: 'comment', 'string', 'number', 'name' or 'sign'. start: from 0.

    closed: whether a string has its closing quotes.
    """

    kind: str
    text: str
    start: int
    closed: bool = True

    @property
    def end(self) -> int:
        """The position behind the token."""
        return self.start + len(self.text)

    @property
    def quotes(self) -> str:
        """What a string begins with: its prefix and its opening quotes."""
        found = re.match(r"\w*(?:'''|\"\"\"|['\"])", self.text)
        return found[0] if found else ""


def tokens(text: str) -> list[Token]:
    """The tokens of a text, comments among them."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = next(name for name in ("comment", "string", "number", "name", "sign") if match[name])
        closed = kind != "string" or any(match[end] for end in _ENDS)
        found.append(Token(kind, match[0], match.start(), closed))
    return found


def is_open(token: Token) -> bool:
    """Whether the token is a string that goes on in the next line."""
    return token.kind == "string" and not token.closed and len(token.quotes.lstrip("bBrRuUfF")) == 3


def opening(code: Sequence[Token], at: int) -> int | None:
    """The index of the bracket that the one at an index closes; None where there is none."""
    depth = 0
    for index in range(at, -1, -1):
        depth += (code[index].text in (")", "]", "}")) - (code[index].text in ("(", "[", "{"))
        if not depth:
            return index
    return None
