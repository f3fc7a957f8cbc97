"""How far a line of Python is indented, by the lines above it."""

from __future__ import annotations

import re

from th_shell.python.text import Token, is_open, opening, tokens
from th_shell.terminal.indentation import Margins

_LEAVES = re.compile(r"[ \t]*(?:return|break|continue|pass|raise)\b")
_OPENERS = {
    clause: re.compile(rf"[ \t]*(?:{words})\b")
    for clause, words in {
        "elif": "if|elif",
        "else": "if|elif|for|async for|while|except",
        "except": "try|except",
        "finally": "try|except|else",
    }.items()
}
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
    line = before[_start_of_line(before, found) :]
    blanks = _blanks(line)
    if found and found[-1].text == ":":
        return blanks + " " * width
    if _LEAVES.match(line):
        return blanks[: max(len(blanks) - width, 0)]
    return blanks


def _start_of_line(text: str, found: list[Token]) -> int:
    """Where the last line begins, with those before it that brackets and strings join to it."""
    start = text.rfind("\n") + 1
    for at in range(len(found) - 1, -1, -1):
        if found[at].end <= start:
            break
        partner = opening(found, at) if found[at].text in _CLOSING else at
        first = found[at if partner is None else partner].start
        start = min(start, text.rfind("\n", 0, first) + 1)
    return start


def _of_closing(before: str) -> str | None:
    """The blanks of a line such as `else:`, which the text ends with: those of its `if`."""
    above, _, line = before.rpartition("\n")
    word = re.match(r"[ \t]*(\w*)", line)
    openers = _OPENERS.get(word[1] if word else "")
    if openers is None:
        return _of_bracket(before)
    least = len(_blanks(line)) + 1
    for other in reversed(above.split("\n")):
        blanks = _blanks(other)
        if not other.strip() or len(blanks) > least:
            continue
        if len(blanks) < least and openers.match(other):
            return blanks
        least = min(least, len(blanks))
    return None


def _of_bracket(before: str) -> str | None:
    """The blanks of the line in which the bracket was opened that the text ends with."""
    found = tokens(before)
    partner = opening(found, len(found) - 1)
    return None if partner is None else _blanks(_line_at(before, found[partner].start))


def _line_at(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :]


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


MARGINS = Margins(
    _below, re.compile(r"[ \t]*(?:(?:else|finally|elif\b.*|except\b.*):|[)\]}])$"), _of_closing
)
