"""The function that pickles call to make objects again. Its name stays when modules move.

An object's `__reduce__` returns `restored`, the object's kind, and the parts it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_MAKERS: dict[str, Callable[..., Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def makes(kind: str) -> Callable[[F], F]:
    """Let a function make the objects of a kind. Kinds stand in files: they never change."""

    def register(function: F) -> F:
        _MAKERS[kind] = function
        return function

    return register


def restored(kind: str, *parts: Any) -> Any:
    """Return the object of a kind that has these parts."""
    return _MAKERS[kind](*parts)


restored.__module__ = "th_shell"  # where pickles find it
