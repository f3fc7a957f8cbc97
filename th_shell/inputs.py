"""From typed or pasted text to inputs, the pieces that are run one after the other.

LuaJIT's own error about a missing end decides where an input ends, so that pasted lines do
what the same lines do when they are typed. Text copied together with its prompts is a
transcript: what stands behind a prompt is input, the rest is output and left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

__all__ = ["is_command", "split"]

Incomplete = Callable[[str], bool]

_PROMPT = re.compile(r"\s*(?:th>|>)(?:[ \t]|$)")
_CONTINUATION = re.compile(r"\s*(?:\.\.>|th>|>+)(?:[ \t]|$)")
_LOCAL = re.compile(r"local\b")


def is_command(text: str) -> bool:
    """Whether an input is for the shell itself: '? name' or '$ command'."""
    return text.lstrip().startswith(("?", "$"))


def split(text: str, incomplete: Incomplete) -> list[str]:
    """The inputs in a text; only the last one may be incomplete.

    incomplete: whether a text is Lua source of which only the end is missing.
    """
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first):
        return list(_transcript(lines, incomplete))
    pieces = list(_pieces(lines, incomplete))
    if len(pieces) > 1 and any(map(_LOCAL.match, pieces)) and not incomplete(pieces[-1]):
        # One by one, the locals would be gone before their use.
        return ["\n".join(pieces)]
    return pieces


def _is_blank(line: str) -> bool:
    line = line.strip()
    return not line or (line.startswith("--") and not line.startswith("--["))


def _grow(piece: str, lines: Iterator[str], incomplete: Incomplete) -> str:
    """The piece with as many of the next lines as it lacks."""
    while not is_command(piece) and incomplete(piece):
        line = next(lines, None)
        if line is None:
            break
        piece += "\n" + line
    return piece


def _pieces(lines: list[str], incomplete: Incomplete) -> Iterator[str]:
    rest = iter(lines)
    for line in rest:
        if not _is_blank(line):
            yield _grow(line.strip(), rest, incomplete)


def _transcript(lines: list[str], incomplete: Incomplete) -> Iterator[str]:
    rest = iter(lines)
    for line in rest:
        code = _PROMPT.sub("", line, count=1)
        if code != line and not _is_blank(code):
            more = (_CONTINUATION.sub("", line, count=1) for line in rest)
            yield _grow(code.strip(), more, incomplete)
