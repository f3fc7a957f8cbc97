"""Splits typed or pasted text into inputs, which are run one after the other.

An input ends where LuaJIT no longer reports that its end is missing. So pasted lines do the same
as when they are typed. Text that was copied together with its prompts is a transcript: the text
behind prompts is input, and the rest is output, which is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from th_shell.session.commands import is_command
from th_shell.syntax import Judge, Syntax

__all__ = ["split"]


_TRANSCRIPT_PROMPT = re.compile(r"\s*(?:th>|>)(?:[ \t]|$)")
_CONTINUATION = re.compile(r"\s*(?:\.\.>|th>|>+)(?:[ \t]|$)")
_LOCAL = re.compile(r"local\b")


def split(text: str, judge: Judge) -> list[str]:
    """The inputs in a text, of which only the last one may be incomplete."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _TRANSCRIPT_PROMPT.match(first):
        return list(_transcript(lines, judge))
    pieces = list(_pieces(lines, judge))
    if len(pieces) > 1 and any(map(_LOCAL.match, pieces)):
        # If the inputs were run one by one, a local would end before it is used.
        whole = "\n".join(pieces)
        return [whole] if judge(whole) is Syntax.COMPLETE else pieces
    return pieces


def _is_blank(line: str) -> bool:
    line = line.strip()
    return not line or (line.startswith("--") and not line.startswith("--["))


def _grow(piece: str, lines: Iterator[str], judge: Judge) -> str:
    """The piece with as many of the next lines as complete it."""
    while not is_command(piece) and judge(piece) is Syntax.INCOMPLETE:
        line = next(lines, None)
        if line is None:
            break
        piece += "\n" + line
    return piece


def _pieces(lines: list[str], judge: Judge) -> Iterator[str]:
    rest = iter(lines)
    for line in rest:
        if not _is_blank(line):
            yield _grow(line.strip(), rest, judge)


def _transcript(lines: list[str], judge: Judge) -> Iterator[str]:
    rest = iter(lines)
    for line in rest:
        code = _TRANSCRIPT_PROMPT.sub("", line, count=1)
        if code != line and not _is_blank(code):
            more = (_CONTINUATION.sub("", line, count=1) for line in rest)
            yield _grow(code.strip(), more, judge)
