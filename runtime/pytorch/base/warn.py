"""Warnings, which tell the program's line that is to blame, however deep they are given."""

from __future__ import annotations

import sys
import warnings
from functools import cache

_PACKAGE = "runtime.pytorch"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning for the line of the program that called into this package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@cache
def warn_once(message: str) -> None:
    """Give a warning that a process gives once."""
    warn(message)


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
