"""Calls of numpy's functions in which numbers behave as in C: no warning of infinities or nans.

numpy's setting belongs to a context of contextvars. So one context, which has the setting, is kept
for each thread, and the functions run in it: that takes 15 ns, np.errstate a microsecond. A
context cannot be entered twice, so functions of our own get one that nobody else is in.
"""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import numpy as np


def _make_calm() -> contextvars.Context:
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    return context


class _WhileSetUp(threading.local):
    """The state of a thread before its context is made: a finalizer may run meanwhile."""

    @staticmethod
    def run(function: Any, *args: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **options)


class _Quietly(_WhileSetUp):
    def __init__(self) -> None:
        self.run: Any = _make_calm().run


#: ``quietly.run(ufunc, *args, **options)``; the function must not call code of Python's.
quietly = _Quietly()
#: The same in a context that all threads have in common, which is found sooner. Raises RuntimeError
#: while another call is in it, of another thread or of a finalizer.
run_first = _make_calm().run


_free: list[contextvars.Context] = []


def calmly(function: Any, *args: Any) -> Any:
    """Call a function in which numpy's functions give no warnings; it may call code of Python's."""
    try:
        context = _free.pop()
    except IndexError:
        context = _make_calm()
    try:
        return context.run(function, *args)
    finally:
        _free.append(context)
