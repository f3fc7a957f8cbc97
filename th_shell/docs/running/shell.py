"""Decides which of a page's shell lines ('$ cat hello.txt') are run.

Lines that create or show files are run, in the folder of the run. Lines that could change anything
else are not (installers, pipes, paths outside of the folder). Lines that start a Lua session are
not run, either: the inputs behind them run as inputs of the page.
"""

from __future__ import annotations

import re
import shlex

_COMMANDS = frozenset(("cat", "echo", "head", "ls", "mkdir", "printf", "tail", "touch", "wc"))
_SESSIONS = frozenset(("lua", "luajit", "qlua", "th"))
_CONTROL = re.compile(r"[;&|`\n]|\$\(|<\(|>\(")


def refusal(command: str) -> str:
    """Why a shell line of a page is not run; '' if it is run."""
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
