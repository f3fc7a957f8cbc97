"""Hints on lines that do not compile: notations of other languages, missing brackets and commas."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from th_shell.hints.failure import PATH, Failure, on
from th_shell.hints.nil_names import elsewhere
from th_shell.tokens import without_texts


class Notation(NamedTuple):
    """A notation of other languages that Lua writes otherwise."""

    pattern: re.Pattern[str]
    #: The token that a message must name: '' for one in the text that the pattern matches, '*' for
    #: any.
    near: str
    say: str


@lru_cache(maxsize=1)
def _notations() -> tuple[Notation, ...]:
    """Return the notations, in the order in which they are tried."""
    return tuple(
        Notation(re.compile(item["pattern"], re.ASCII), item.get("near", ""), item["say"])
        for item in elsewhere()["notations"]
    )


def notation(failure: Failure) -> str:
    """Return the hint for a notation of other languages that stands where the message points to."""
    place = re.search(r"near '([^']*)'$", failure.text)
    near = place[1] if place else ""
    for foreign in _notations():
        match = foreign.pattern.search(failure.code)
        if match and (foreign.near in ("*", near) or (not foreign.near and near in match[0])):
            return match.expand(foreign.say)
    return ""


@on("function arguments expected near")
def brackets_missing(failure: Failure, _: re.Match[str]) -> str:
    """Return the hint for `x:size` without the brackets of a call."""
    methods = re.findall(rf"({PATH}):(\w+)(?![\w])\s*(?![\w({{'\"\[\s])", failure.code, re.ASCII)
    if len(methods) != 1:
        return ""
    base, name = methods[0]
    return f"a method needs its brackets: {base}:{name}()"


# -- a comma that is missing between two lines, in a table or in a call's arguments

#: Ends of a line behind which a value has ended, and words that look like such an end.
_VALUE_ENDS = re.compile(r"[\w)\]}\"']$|\.\.\.$")
_NO_VALUE = re.compile(r"\b(?:and|or|not|then|do|return|in|else|repeat|local)$")


@on(r"'[})]' expected \(to close '(?P<opening>[{(])' at line (?P<line>\d+)\) near '(?P<near>.+)'$")
def comma_missing(failure: Failure, match: re.Match[str]) -> str:
    """Return the hint for a line that begins where a comma or the closing bracket should stand."""
    near, begins = match["near"], failure.line.lstrip()
    if not begins.startswith(near) or not re.match(r"[\w{\"'\[]", near):
        return ""
    number, above = _line_above(failure)
    if not _VALUE_ENDS.search(above) or _NO_VALUE.search(above):
        return ""
    has_name = re.match(r"[A-Za-z_]", near) and not re.match(r"(?:nil|true|false|function)\b", near)
    if match["opening"] == "(" and has_name and not re.match(r"\w+\s*(?:[,)]|$)", begins):
        return ""  # perhaps another statement, and what is missing is the bracket
    bracket = ""
    if has_name and re.match(r"\w+\s*=", begins) and int(match["line"]) == number:
        bracket = ", or the }"  # the same for a table
    return f"a comma{bracket} is missing at the end of line {number}"


def _line_above(failure: Failure) -> tuple[int, str]:
    """Return the last line above that is not empty, with its number from 1; without its comment."""
    for number in range(len(failure.above), 0, -1):
        line = without_texts(failure.above[number - 1]).rstrip()
        if line:
            return number, line
    return 0, ""
