"""Tracebacks of programs, without the frames of this project."""

from __future__ import annotations

import builtins
import os
from types import TracebackType

_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_GROUP: tuple[type, ...] = (
    (builtins.BaseExceptionGroup,) if hasattr(builtins, "BaseExceptionGroup") else ()
)  # Python 3.10 has none


def is_own(path: str) -> bool:
    """Tell whether a source file is one of this project."""
    return path.startswith(_OWN)


def without_own_frames(error: BaseException) -> BaseException:
    """Return an error whose tracebacks, and those of its causes, show the program's lines alone.

    With TH_DEBUG=1 in the environment they stay as they are.
    """
    if not os.environ.get("TH_DEBUG"):
        _shorten(error, set())
    return error


def _shorten(error: BaseException, done: set[int]) -> None:
    if id(error) in done:
        return
    done.add(id(error))
    error.__traceback__ = _shortened(error.__traceback__)
    members = error.exceptions if isinstance(error, _GROUP) else ()  # type: ignore[attr-defined]
    for cause in (error.__cause__, error.__context__, *members):
        if cause is not None:
            _shorten(cause, done)


def _shortened(traceback: TracebackType | None) -> TracebackType | None:
    steps = []
    while traceback is not None:
        if not is_own(traceback.tb_frame.f_code.co_filename):
            steps.append(traceback)
        traceback = traceback.tb_next
    shortened: TracebackType | None = None
    for step in reversed(steps):
        shortened = TracebackType(shortened, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return shortened
