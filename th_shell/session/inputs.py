"""Splits typed or pasted text into inputs, which are run one after the other.

An input ends where LuaJIT no longer reports that its end is missing. So pasted lines do the same
as when they are typed. Text with prompts, fences or printed tensors that are no part of code was
copied from a page, whose examples `page.py` finds.

Splitting takes time in proportion to the text: where `Nesting` sees that something is open, LuaJIT
is asked only when the input has grown to twice its length.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from th_shell.lines import lua_lines
from th_shell.session.commands import is_command
from th_shell.syntax import Judge, Syntax
from th_shell.tokens import Nesting

#: `x?`, as IPython has it.
ASKED = re.compile(r"\s*([A-Za-z_][\w.:]*)(\?{1,2})\s*\Z", re.ASCII)
PROMPT = re.compile(r"\s*(?:th)?>(?!>)")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|[“”]`)")
_NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf)"
_HEADING = r"\(\d+(?:,\d+)*[,.]+\)\s*=|Columns\s+\d.*|\[torch\.\w+ .*\]"
_PRINTED = re.compile(rf"^\s*(?:{_NUMBER}(?:\s+{_NUMBER})*(?:\s*\*)?|{_HEADING})\s*$")
#: Lines of a printed tensor, even where nothing stands above them.
_TENSOR = re.compile(rf"^\s*(?:{_HEADING})\s*$")
#: The beginning of a sentence.
_SENTENCE = re.compile(r"\s*(?:[A-Za-z][\w']*,?[ ]+){3}[A-Za-z(]")
_PRINTS = re.compile(r"\b(?:print|write)\b")


def split(text: str, judge: Judge) -> list[str]:
    """Return the inputs in a text, of which only the last one may be incomplete."""
    return list(_pieces(lua_lines(text), judge))


def is_page(inputs: Sequence[str], judge: Judge) -> bool:
    """Tell whether a text was copied from a page, by the inputs that it would have as code."""
    above = ""
    for piece in inputs:
        if PROMPT.match(piece) or FENCE.match(piece):
            return True
        if len(inputs) > 1 and _SENTENCE.match(piece) and judge(piece) is Syntax.WRONG:
            return True
        if (_PRINTED if above else _TENSOR).match(piece.partition("\n")[0]):
            if _PRINTS.search(above) or judge(piece) is Syntax.WRONG:
                return True
        above = piece
    # An input that never ends has taken the rest of the page.
    last = inputs[-1] if inputs else ""
    has_prompts = any(map(PROMPT.match, last.split("\n")))
    return has_prompts and judge(last) is not Syntax.COMPLETE


def _pieces(lines: Sequence[str], judge: Judge) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if _is_blank(lines[at]):
            at += 1
            continue
        if asked := ASKED.match(lines[at]):
            yield f"{asked[2]} {asked[1]}"
            at += 1
            continue
        used = 1 if is_command(lines[at]) else _length(lines, at, judge)
        yield "\n".join(lines[at : at + used])
        at += used


def _is_blank(line: str) -> bool:
    line = line.strip(" \t;")
    return not line or (line.startswith("--") and not line.startswith("--["))


def _length(lines: Sequence[str], start: int, judge: Judge) -> int:
    """Return the number of lines of the input that begins with a line."""

    def syntax(count: int) -> Syntax:
        return judge("\n".join(lines[start : start + count]).strip())

    if syntax(1) is not Syntax.INCOMPLETE:
        return 1
    nesting = Nesting()
    nesting.add(lines[start])
    incomplete = 1  # so many lines are incomplete
    for count in range(2, len(lines) - start + 1):
        nesting.add(lines[start + count - 1])
        if nesting.goes_on and count & (count - 1):
            continue
        state = syntax(count)
        if state is Syntax.COMPLETE:
            return count
        if state is Syntax.WRONG:
            # The input ends with the first line that no other can follow.
            wrong = range(incomplete + 1, count)
            return (
                incomplete + 1 + bisect_left(wrong, True, key=lambda n: syntax(n) is Syntax.WRONG)
            )
        incomplete = count
    return len(lines) - start


def placed(text: str, pieces: Sequence[str]) -> Iterator[str]:
    """Yield the inputs in a text, each behind as many empty lines as there are lines above it.

    So errors tell the lines of the text.
    """
    lines = lua_lines(text)
    at = 0
    for piece in pieces:
        first = piece.partition("\n")[0]
        above = next((i for i in range(at, len(lines)) if lines[i] == first), at)
        yield "\n" * above + piece
        at = above + 1 + piece.count("\n")
