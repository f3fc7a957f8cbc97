"""``guarded`` keeps Python exceptions out of Lua, ``answering`` tells strings from errors there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.core.encoding import to_bytes
from th_shell.runtime.core.interrupts import mark_interruptible
from th_shell.runtime.core.state import GUESTS, settle


def guarded(function: Callable[..., Any], *, interruptible: bool = False) -> Callable[..., Any]:
    """A function that returns an exception as the bytes that make Lua raise an error.

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


def answering(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of whose results `ask` of ``lua/core/python_calls.lua`` can read texts."""

    @wraps(function)
    def answer(*args: Any) -> Any:
        result = function(*args)
        if isinstance(result, str):
            result = to_bytes(result)
        return b"\1" + result if isinstance(result, bytes) else result

    return answer
