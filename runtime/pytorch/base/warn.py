"""Warnings, which tell the program's line that is to blame, however deep they are given.

One is of shapes that older versions of PyTorch did not broadcast; programs enable it.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from math import prod

from th_shell.torch.base.shapes import Shape

_PACKAGE = "th_shell.torch"


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


class OptionalWarning:
    """A warning that programs enable.

    enabled: whether it is given.
    """

    def __init__(self) -> None:
        self.enabled = False


class _BroadcastWarning(OptionalWarning):
    """Warns of two shapes that are broadcast although they have as many elements."""

    def __call__(self, a: Shape, b: Shape) -> None:
        if a != b and prod(a) == prod(b) and _is_broadcastable(a, b):
            warn(
                "self and other do not have the same shape, but are broadcastable, and have the "
                "same number of elements.\nChanging behavior in a backwards incompatible manner to "
                "broadcasting rather than viewing as 1-dimensional."
            )


def _is_broadcastable(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


warn_of_broadcast = _BroadcastWarning()
