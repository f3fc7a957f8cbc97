"""How far a line of Lua is indented, by the blocks and brackets that are open before it."""

from __future__ import annotations

from th_shell.tokens import Token, structure

_OPENING = frozenset(["function", "then", "do", "repeat", "else", "{", "(", "["])
_CLOSING = frozenset(["end", "until", "else", "elseif", "}", ")", "]"])


def margin(before: str, width: int) -> str:
    """The blanks for a new line behind a text."""
    found = structure(before)
    if found and found[-1].is_open:  # a string or a long comment
        return ""
    opened = _opened(found)
    return _margin_of_line(before, opened) + " " * width if opened else ""


def margin_of_closing(before: str) -> str | None:
    """The blanks for a line that the text ends with and that closes something."""
    found = structure(before)
    opened = _opened(found[:-1])
    return _margin_of_line(before, opened) if opened else None


def _opened(found: list[Token]) -> Token | None:
    """The innermost block or bracket that is open behind some tokens."""
    opened: list[Token] = []
    for token in found:
        if token.kind not in ("keyword", "sign"):
            continue
        if token.text in _CLOSING and opened:
            opened.pop()
        if token.text in _OPENING:
            opened.append(token)
    return opened[-1] if opened else None


def _margin_of_line(text: str, token: Token) -> str:
    line = text[text.rfind("\n", 0, token.start) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]
