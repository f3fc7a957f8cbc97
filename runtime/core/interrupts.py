"""Where Ctrl-C may end what runs in Python.

A signal is handled between two steps of Python code, wherever these are. Operations may end
there, with KeyboardInterrupt, which their entry turns into an error of Lua's. What must not be
left half done is finished first: Lua asks for the signal soon afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

__all__ = ["INTERRUPTED", "is_interruptible", "mark_interruptible", "uninterruptible"]

#: The message of an error that Ctrl-C raises.
INTERRUPTED = "interrupted!"

_interruptible: set[CodeType] = set()
_uninterruptible: set[CodeType] = set()

F = TypeVar("F", bound=Callable[..., Any])


def mark_interruptible(function: F) -> F:
    """Let Ctrl-C end what a function calls. It must catch KeyboardInterrupt itself."""
    _interruptible.add(function.__code__)
    return function


def uninterruptible(function: F) -> F:
    """Let a function, with all it calls, be finished once it has begun."""
    _uninterruptible.add(function.__code__)
    return function


def _is_pythons_own(code: CodeType) -> bool:
    # A module that was left half loaded would stay so; a weak reference's callback is a finalizer.
    name = code.co_filename
    return name.startswith("<frozen importlib") or name == weakref.__file__


def is_interruptible(frame: FrameType | None) -> bool:
    """Whether Ctrl-C may end what a Python frame does.

    Not where it belongs to a finalizer that runs within: no exception gets out of these.
    """
    outer = False
    while frame is not None and frame.f_code.co_name != "__del__":
        if frame.f_code in _uninterruptible or _is_pythons_own(frame.f_code):
            return False
        if outer and frame.f_code in _interruptible:
            return True
        outer, frame = True, frame.f_back
    return False
