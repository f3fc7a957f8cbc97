"""Calls between Lua and Python: the functions of Python that Lua calls, and those of Lua that
operations call, which Lua itself has called.

`guarded` keeps Python's exceptions out of Lua, `with_marked_texts` tells strings from errors there.

lupa calls a Lua function in the coroutine that it got the function from. That coroutine may be
waiting at that moment: for the operation, or for a finalizer that called it. Calling a function
on top of its stack would destroy what is on the stack. So the functions that operations call are
taken from coroutines that do nothing else: see `Calls`.

`describe` names the operation that an engine is busy with, read off the frames of its thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from types import FrameType
from typing import Any

from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.interrupts import is_entry, mark_interruptible, uninterruptible
from th_shell.runtime.core.state import GUESTS, settle


def guarded(function: Callable[..., Any], *, interruptible: bool = False) -> Callable[..., Any]:
    """Return a function that returns an exception as the bytes that make Lua raise an error.

    interruptible: whether Ctrl-C may end it.
    """

    def call(*args: Any) -> Any:
        try:
            if GUESTS:
                settle()
            return function(*args)
        except BaseException as error:
            return encode_error(error)

    if interruptible:
        # Interrupts are allowed by code object, which all functions made here would share: these
        # get one of another name, which is not equal to the others'.
        call.__code__ = call.__code__.replace(co_name="interruptible_call")
        mark_interruptible(call)
    return wraps(function)(call)


def with_marked_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of whose results `ask` of ``lua/core/python_calls.lua`` can read texts."""

    @wraps(function)
    def answer(*args: Any) -> Any:
        result = function(*args)
        if isinstance(result, str):
            result = to_bytes(result)
        return b"\1" + result if isinstance(result, bytes) else result

    return answer


def callable_by_name(name: str, function: Callable[..., str | None]) -> Callable[..., Any]:
    """Return a function as Lua calls it (see `Engine.define`). name: its name in errors."""

    def call(*args: Any) -> str | None:
        try:
            return function(*[_plain_value(arg) for arg in args])
        except ValueError as error:
            raise TorchError(f"{name}: {error}") from None

    return guarded(with_marked_texts(call))


def _plain_value(arg: Any) -> Any:
    """Return a value that knows nothing of Lua: arrays are copies."""
    import numpy as np  # late, with what needs it: before a value is passed, numpy is loaded

    from th_shell.runtime.calls.forms import Foreign
    from th_shell.runtime.core.storage import Storage
    from th_shell.runtime.core.tensor import Tensor

    if isinstance(arg, Tensor):
        return np.array(arg.array) if arg.sizes else np.empty(0)
    if isinstance(arg, Storage):
        return np.array(arg.data)
    if isinstance(arg, bytes):
        return to_text(arg)
    if isinstance(arg, Foreign):
        raise ValueError(f"takes tensors, numbers and strings, not a {arg.typename or arg.kind}")
    if isinstance(arg, list):
        raise ValueError("takes tensors, numbers and strings, not a table")
    return arg


# How many calls may be open at a time: during a call a finalizer may run, whose operation makes
# another call, and so on.
_DEPTH = 16

Functions = Mapping[bytes, Callable[..., Any]]


class Calls:
    """Calls Lua functions by their names.

    hand_over: a Lua function that calls its argument with the table of the functions, in a new
    coroutine, which it keeps and uses for nothing else.
    """

    def __init__(self, hand_over: Callable[[Callable[[Any], None]], None]) -> None:
        self._free: list[Functions] = []
        # All are made now: hand_over is a Lua function itself and cannot be called within a call.
        for _ in range(_DEPTH):
            hand_over(lambda functions: self._free.append(dict(functions.items())))

    @uninterruptible
    def __call__(self, name: bytes, *args: Any) -> Any:
        functions = self._free.pop()
        try:
            return functions[name](*args)
        finally:
            self._free.append(functions)


#: What messages call the code that runs outside of operations.
IN_LUA = "a function of Lua or of a C library"
_IN_HOST = "what reads, writes or waits"


def describe(thread: int) -> str:
    """Return the operation that a thread is in, as ``torch.sort``; else `IN_LUA`.

    thread: its identifier. Any thread may call this.
    """
    frame: FrameType | None = sys._current_frames().get(thread)
    activity = IN_LUA
    while frame is not None:
        if is_entry(frame.f_code):
            name = frame.f_locals.get("name")
            # Later frames are further out: the last operation is the one that the program called.
            activity = f"torch.{name}" if isinstance(name, str) else _IN_HOST
        frame = frame.f_back
    return activity
