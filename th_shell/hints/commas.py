"""The hint on a comma that is missing between two lines, in a table or in a call's arguments."""

from __future__ import annotations

import re

from th_shell.hints.failure import Failure, on
from th_shell.tokens import without_texts

#: What a value may end with, and what the next one begins with: there is no operator between them.
_VALUE_ENDS = re.compile(r"[\w)\]}\"']$|\.\.\.$")
_NO_VALUE = re.compile(r"\b(?:and|or|not|then|do|return|in|else|repeat|local)$")


@on(r"'[})]' expected \(to close '(?P<opening>[{(])' at line (?P<line>\d+)\) near '(?P<near>.+)'$")
def comma_missing(failure: Failure, found: re.Match[str]) -> str:
    """For a line that begins where a comma or the closing bracket should stand."""
    near, begins = found["near"], failure.line.lstrip()
    if not begins.startswith(near) or not re.match(r"[\w{\"'\[]", near):
        return ""
    number, above = _line_above(failure)
    if not _VALUE_ENDS.search(above) or _NO_VALUE.search(above):
        return ""
    has_name = re.match(r"[A-Za-z_]", near) and not re.match(r"(?:nil|true|false|function)\b", near)
    if found["opening"] == "(" and has_name and not re.match(r"\w+\s*(?:[,)]|$)", begins):
        return ""  # perhaps another statement, and what is missing is the bracket
    bracket = ""
    if has_name and re.match(r"\w+\s*=", begins) and int(found["line"]) == number:
        bracket = ", or the }"  # the same for a table
    return f"a comma{bracket} is missing at the end of line {number}"


def _line_above(failure: Failure) -> tuple[int, str]:
    """The last line above that is not empty, with its number from 1; without its comment."""
    for number in range(len(failure.above), 0, -1):
        line = without_texts(failure.above[number - 1]).rstrip()
        if line:
            return number, line
    return 0, ""
