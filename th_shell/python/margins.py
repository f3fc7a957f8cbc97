"""How far a line of Python is indented, by the lines above it."""

from __future__ import annotations

import re

from th_shell.python.text import is_open, tokens
from th_shell.terminal.indentation import Margins

__all__ = ["MARGINS"]

_LEAVES = re.compile(r"[ \t]*(?:return|break|continue|pass|raise)\b")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def _below(before: str, width: int) -> str:
    """The blanks of a new line behind a text."""
    found = [token for token in tokens(before) if token.kind != "comment"]
    if found and is_open(found[-1]):  # a string of several lines
        return ""
    opened: list[int] = []
    for token in found:
        if token.text in _CLOSING and opened:
            opened.pop()
        if token.text in _OPENING:
            opened.append(token.start)
    if opened:
        return _blanks(_line_at(before, opened[-1])) + " " * width
    line = before.rpartition("\n")[2]
    blanks = _blanks(line)
    if found and found[-1].text == ":":
        return _blanks(_line_at(before, _start_of_statement(before, found[-1].start))) + " " * width
    if _LEAVES.match(line):
        return blanks[: max(len(blanks) - width, 0)]
    return blanks


def _start_of_statement(text: str, colon: int) -> int:
    """Where the line begins that a colon ends, whose brackets may span several lines."""
    depth = 0
    for token in reversed([one for one in tokens(text) if one.start < colon]):
        depth += (token.text in _CLOSING) - (token.text in _OPENING)
        if not depth and "\n" in text[: token.start].rpartition("\n")[0] + "\n":
            line = text.rfind("\n", 0, token.start) + 1
            if not text[line : token.start].strip():
                return token.start
    return 0


def _of_closing(before: str) -> str | None:
    """The blanks of a line such as `else:`, which the text ends with."""
    above, _, line = before.rpartition("\n")
    for other in reversed(above.split("\n")):
        if other.strip() and len(_blanks(other)) < len(_blanks(line)):
            return _blanks(other)
    return None


def _line_at(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :]


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


MARGINS = Margins(
    _below, re.compile(r"[ \t]*(?:(?:else|finally|elif\b.*|except\b.*):|[)\]}])$"), _of_closing
)
