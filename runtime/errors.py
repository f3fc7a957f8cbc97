"""The errors that an engine raises, and what makes them of whatever comes out of Lua.

LuaError            raised by Lua code that did not catch it
├── LuaSyntaxError  source that does not compile
├── LuaExit         `os.exit`, called by what a Python program runs
└── Interrupted     Ctrl-C at a prompt; `Engine.interrupt`
    └── LuaTimeout  it took longer than a program has allowed; a TimeoutError, too

Beside the door and not in ``engine/``: tracebacks of programs show the names of these classes.
"""

from __future__ import annotations

from typing import Any

from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.compute.luajit import RawError
from th_shell.runtime.core.encoding import to_text
from th_shell.runtime.core.interrupts import INTERRUPTED

OUT_OF_MEMORY = "not enough memory"
#: LuaJIT's message where there is no memory for the traceback that lupa asks for.
_NO_TRACEBACK = "error in error handling"


class LuaError(Exception):
    """An error that Lua code raised and did not catch: the only one that `Engine` raises.

    message: Lua's message. traceback: the frames of the user's code ('' where none). value: what
    was raised, for a Python program: a table of ``error({code = 5})``; of a text, the message.
    """

    __module__ = "th_shell"  # where programs find it

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.traceback = traceback
        self.value: Any = message

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave what only the engine has behind: processes hand errors to each other."""
        state = self.__dict__ | ({"value": self.message} if callable(self.value) else {})
        return type(self), self.args, state


class LuaSyntaxError(LuaError):
    """Source that does not compile; incomplete: only its end is missing ('<eof>')."""

    def __init__(self, message: str, incomplete: bool) -> None:
        super().__init__(message)
        self.incomplete = incomplete

    def __reduce__(self) -> tuple[Any, ...]:
        return LuaSyntaxError, (self.message, self.incomplete)


class Interrupted(LuaError):
    """Ctrl-C or `Engine.interrupt` stopped the code."""

    __module__ = "th_shell"


class LuaTimeout(Interrupted, TimeoutError):
    """The code took longer than the `timeout` that it had; a TimeoutError of Python's, too."""

    __module__ = "th_shell"


class LuaExit(LuaError):
    """The code called `os.exit`; status: what the process would have returned, 0 for success."""

    __module__ = "th_shell"

    def __init__(self, status: int) -> None:
        super().__init__(f"os.exit({status})")
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return LuaExit, (self.status,)


def check(result: Any) -> None:
    """Raise the error that engine/calls.lua reports: message, traceback and more; None is none."""
    if result is None:
        return
    message, traceback = map(to_text, result[:2])
    if message.endswith(INTERRUPTED):
        raise Interrupted(INTERRUPTED)
    raise LuaError(message, traceback)


def as_lua_error(error: Exception) -> LuaError:
    """Return as a LuaError an exception that came out of Lua, unless calls.lua reports it."""
    if isinstance(error, LuaError):
        return error
    if isinstance(error, MemoryError):  # Lua's and Python's own
        return LuaError(OUT_OF_MEMORY)
    if isinstance(error, RawError):
        message = error.args[0] if error.args else ""
        text = to_text(message) if isinstance(message, bytes) else str(message)
        text = text.partition("\nstack traceback:")[0]
        if text == _NO_TRACEBACK:
            text = OUT_OF_MEMORY
        return Interrupted(INTERRUPTED) if text.endswith(INTERRUPTED) else LuaError(text)
    return LuaError(to_text(encode_error(error)[1:]))
