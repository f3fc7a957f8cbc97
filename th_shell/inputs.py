"""From typed or pasted text to inputs, the pieces that are run one after the other.

LuaJIT's own error about a missing end decides where an input ends, so that pasted lines do
what the same lines do when they are typed. Text copied together with its prompts is a
transcript: what stands behind a prompt is input, the rest is output and left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum

__all__ = ["Judge", "Syntax", "is_command", "split"]


class Syntax(Enum):
    """What the compiler says of a text."""

    COMPLETE = "it compiles"
    INCOMPLETE = "only its end is missing"
    WRONG = "no continuation can make it compile"


Judge = Callable[[str], Syntax]

_PROMPT = re.compile(r"\s*(?:th>|>)(?:[ \t]|$)")
_CONTINUATION = re.compile(r"\s*(?:\.\.>|th>|>+)(?:[ \t]|$)")
_LOCAL = re.compile(r"local\b")


def is_command(text: str) -> bool:
    """Whether an input is for the shell itself: '? name' or '$ command'."""
    return text.lstrip().startswith(("?", "$"))


def split(text: str, judge: Judge) -> list[str]:
    """The inputs in a text; only the last one may be incomplete."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first):
        return list(_transcript(lines, judge))
    pieces = list(_pieces(lines, judge))
    if len(pieces) > 1 and any(map(_LOCAL.match, pieces)):
        # One by one, the locals would be gone before their use.
        whole = "\n".join(pieces)
        return [whole] if judge(whole) is Syntax.COMPLETE else pieces
    return pieces


def _is_blank(line: str) -> bool:
    line = line.strip()
    return not line or (line.startswith("--") and not line.startswith("--["))


def _grow(piece: str, lines: Iterator[str], judge: Judge) -> str:
    """The piece with as many of the next lines as it lacks."""
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
        code = _PROMPT.sub("", line, count=1)
        if code != line and not _is_blank(code):
            more = (_CONTINUATION.sub("", line, count=1) for line in rest)
            yield _grow(code.strip(), more, judge)
