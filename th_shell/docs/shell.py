"""Shell lines of a page ('$ cat hello.txt'): which of them are run.

Pages show files being made and looked at; those lines are run in the page's folder. What
could touch anything else (installers, pipes, paths that lead out) is not, and neither is the
start of a Lua session, whose lines run as those of the page.
"""

from __future__ import annotations

import re
import shlex

__all__ = ["refusal"]

_COMMANDS = frozenset(("cat", "echo", "head", "ls", "mkdir", "printf", "tail", "touch", "wc"))
_SESSIONS = frozenset(("lua", "luajit", "qlua", "th"))
_CONTROL = re.compile(r"[;&|`\n]|\$\(|<\(|>\(")


def refusal(command: str) -> str:
    """Why a shell line of a page is not run; '' where it is."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"not a shell line: {error}"
    if words and words[0] in _SESSIONS:
        return "starts a session: the lines after it run as the page's"
    if not words or words[0] not in _COMMANDS or _CONTROL.search(command):
        return "not a shell line that this tool runs"
    if any(_leads_out(word.lstrip("<>")) for word in words[1:]):
        return "not run: it names a path outside the page's folder"
    return ""


def _leads_out(word: str) -> bool:
    return word.startswith(("/", "~", "$")) or ".." in word.split("/")
