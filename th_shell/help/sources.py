"""The source lines of the user's own functions: from the inputs of the session, or from files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from th_shell.entry import Entry
from th_shell.files import lines_of_file
from th_shell.lines import lua_lines
from th_shell.paragraphs import MOST_LINES
from th_shell.runtime.shell import Facts


def function_text(facts: Facts, log: Sequence[Entry], texts: Sequence[str] = ()) -> tuple[str, str]:
    """Where a function of the program is defined, and its lines with the comment above them.

    The lines are '' where they are no longer to be had. log, texts: the inputs of the session, and
    what was typed.
    """
    source, first, last = str(facts["source"]), int(facts["first"]), int(facts["last"])
    if source.startswith("@"):
        place, lines = source[1:], lines_of_file(source[1:])
    elif source.startswith("="):
        place, lines = _input_lines(source[1:], first, last, log)
    else:  # what loadstring was given
        place, lines = "a text that was loaded", lua_lines(source)
    where = f"{place}, line {first}" if first == last else f"{place}, lines {first}-{last}"
    shown = _cut(lines, first, last)
    if shown and first == 1 and source.startswith("="):
        shown = _typed_comment(lines, texts) + shown
    return where, shown


def _typed_comment(lines: Sequence[str], texts: Sequence[str]) -> str:
    """The comment that was typed right above an input, which is no part of it."""
    typed = "\n".join(texts)
    at = typed.rfind("\n".join(lines))
    above = lua_lines(typed[:at]) if at >= 0 else []
    return "".join(f"{line.strip()}\n" for line in above[start_of_comment(above, len(above)) :])


def start_of_comment(lines: Sequence[str], end: int) -> int:
    """Where the comment begins that ends before a line, which is the line where there is none."""
    while end > 0 and lines[end - 1].lstrip().startswith("--"):
        end -= 1
    return end


def _input_lines(chunk: str, first: int, last: int, log: Sequence[Entry]) -> tuple[str, list[str]]:
    """The input that a function was typed in: by its number, or the last one that it may be."""
    numbered = re.fullmatch(r"\[(\d+)\]", chunk)
    for entry in reversed(log):
        lines = lua_lines(entry.source.rstrip())
        if numbered and entry.number != int(numbered[1]):
            continue
        if (numbered or chunk == "stdin") and _defines(lines, first, last):
            return f"input {entry.number}", lines
    return chunk, []


def _defines(lines: Sequence[str], first: int, last: int) -> bool:
    if not first <= last <= len(lines):
        return False
    return "function" in lines[first - 1] and re.search(r"\bend\b", lines[last - 1]) is not None


def _cut(lines: Sequence[str], first: int, last: int) -> str:
    """The lines of a function and those of the comment right above it; '' where it is not there."""
    if not 1 <= first <= last <= len(lines) or "function" not in lines[first - 1]:
        return ""
    shown = list(lines[start_of_comment(lines, first - 1) : last])
    if len(shown) > MOST_LINES:
        left = len(shown) - MOST_LINES
        shown = [*shown[:MOST_LINES], f"... ({left} more lines)"]
    return "\n".join(shown)
