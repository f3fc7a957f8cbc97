"""Marks of the Python functions that Ctrl-C may end.

Python handles a signal between any two steps of its code. An operation may be ended there, by a
KeyboardInterrupt that the function Lua called turns into a Lua error. Code that would leave an
object in an inconsistent state must be finished first; the interrupt is then raised a little
later, in Lua.

The signal's handler sees the stack of frames. So the functions that allow or forbid an
interrupt are registered by their code objects, which the frames refer to.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

#: The message of an error that Ctrl-C raises.
INTERRUPTED = "interrupted!"

_interruptible: set[CodeType] = set()
_uninterruptible: set[CodeType] = set()

F = TypeVar("F", bound=Callable[..., Any])


def mark_interruptible(function: F) -> F:
    """Let Ctrl-C end what a function calls; the function itself must catch KeyboardInterrupt."""
    _interruptible.add(function.__code__)
    return function


def uninterruptible(function: F) -> F:
    """Make sure that Ctrl-C does not end a function, nor anything that it calls."""
    _uninterruptible.add(function.__code__)
    return function


def is_entry(code: CodeType) -> bool:
    """Tell whether a function was registered as one that Lua calls, and that Ctrl-C may end."""
    return code in _interruptible


def _is_uninterruptible_in_python(code: CodeType) -> bool:
    # An import that is ended leaves a half-loaded module behind, for good. No exception gets out
    # of a weak reference's callback: the interrupt would be lost.
    name = code.co_filename
    return name.startswith("<frozen importlib") or name == weakref.__file__


def is_interruptible(frame: FrameType | None) -> bool:
    """Tell whether Ctrl-C may end what a Python frame does.

    The innermost registered function among its callers decides. A frame within a finalizer may
    not be ended: no exception gets out of finalizers.
    """
    is_caller = False  # an interruptible function must not be ended itself, only what it calls
    while frame is not None and frame.f_code.co_name != "__del__":
        code = frame.f_code
        if code in _uninterruptible or _is_uninterruptible_in_python(code):
            return False
        if is_caller and code in _interruptible:
            return True
        is_caller, frame = True, frame.f_back
    return False
