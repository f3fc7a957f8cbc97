"""The languages of blocks: which of them have an engine, and what their fences are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

LUA = "lua"
PYTHON = "python"

_NAMES = {
    **dict.fromkeys(("lua", "luajit", "th", "torch"), LUA),
    **dict.fromkeys(("python", "py", "python3", "pycon", "doctest"), PYTHON),
    **dict.fromkeys(("ipython", "ipython3"), PYTHON),
}
_LUA_PROMPT = re.compile(r"^\s*(?:th)?>(?!>)")
_PYTHON_PROMPT = re.compile(r"^\s*(?:>>>(?:\s|$)|In ?\[\d*\]:)")


def language_of(name: str, lines: Iterable[str], usual: str = LUA) -> str:
    """The language of a block by the name at its fence, else by its first prompt, else the usual.

    Returns '' for a language that has no engine.
    """
    if name:
        return _NAMES.get(name, "")
    for line in lines:
        if _LUA_PROMPT.match(line):
            return LUA
        if _PYTHON_PROMPT.match(line):
            return PYTHON
    return usual


def prompt_of(language: str) -> str:
    """The prompt of a language, as reports and ledgers show it before an input."""
    return ">>> " if language == PYTHON else "> "
