"""Functions to call when the program ends, by Python's exit or by `os.exit` of Lua."""

from __future__ import annotations

import atexit
from collections.abc import Callable

_functions: list[Callable[[], object]] = []


def at_the_end(function: Callable[[], object]) -> None:
    """Let a function be called when the program ends; the last one is called first."""
    if function not in _functions:
        atexit.register(function)
        _functions.append(function)


def leave() -> None:
    """Call them all. Python calls them once more, if it ends the program."""
    for function in reversed(_functions):
        function()
