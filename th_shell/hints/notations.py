"""Hints on notations of other languages, which do not compile."""

from __future__ import annotations

import re

from th_shell.hints import elsewhere
from th_shell.hints.failure import Failure


def notation(failure: Failure) -> str:
    """For a line that does not compile: the first notation that is where the message points to."""
    found = re.search(r"near '([^']*)'$", failure.text)
    near = found[1] if found else ""
    for known in elsewhere.notations():
        match = known.pattern.search(failure.code)
        if match and (known.near in ("*", near) or (not known.near and near in match[0])):
            return match.expand(known.say)
    return ""
