"""The embedded LuaJIT: its options, globals, errors, interruption and output.

The only module that touches lupa. What runs in it sees Lua and ``torch``; everything that
comes out of it is bytes, None, or an error of the classes below.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from types import FrameType
from typing import Any, NoReturn

import numpy as np

try:
    from lupa import luajit21
except ImportError as error:
    raise ImportError(
        f"th needs LuaJIT 2.1 in lupa, whose wheels have it for Linux and not for macOS ({error}); "
        "the README tells how to build it"
    ) from error

from runtime.calls.results import encode_error
from runtime.compute import lua_kernels, thread_pool
from runtime.compute.threads import LARGE
from runtime.core.interrupts import INTERRUPTED, is_interruptible, uninterruptible
from runtime.core.memory import METER
from runtime.core.platform import keep_pages
from runtime.core.storage import BLOCKS
from runtime.host import bridge
from runtime.host.lua_calls import Calls

__all__ = ["Chunk", "Engine", "Interrupted", "LuaError", "LuaSyntaxError"]

OUT_OF_MEMORY = "not enough memory"

#: A compiled Lua function, opaque to callers.
Chunk = Any


class LuaError(Exception):
    """An error that Lua code raised and did not catch: the only one that `Engine` raises.

    message: Lua's message. traceback: the frames of the user's code ('' where none).
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.traceback = traceback


class LuaSyntaxError(LuaError):
    """Source that does not compile; incomplete: only its end is missing ('<eof>')."""

    def __init__(self, message: str, incomplete: bool) -> None:
        super().__init__(message)
        self.incomplete = incomplete


class Interrupted(LuaError):
    """Ctrl-C stopped the code."""


def _refuse(*_: Any) -> NoReturn:
    raise AttributeError("no access")


def _text(message: bytes) -> str:
    return message.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _as_lua_error(error: Exception) -> LuaError:
    """What reached us instead of an error that our Lua half reports, as one of ours."""
    if isinstance(error, LuaError):
        return error
    if isinstance(error, MemoryError):  # Lua's and Python's own
        return LuaError(OUT_OF_MEMORY)
    if isinstance(error, luajit21.LuaError):
        message = error.args[0] if error.args else ""
        text = _text(message) if isinstance(message, bytes) else str(message)
        text = text.partition("\nstack traceback:")[0]
        return Interrupted(INTERRUPTED) if text.endswith(INTERRUPTED) else LuaError(text)
    return LuaError(_text(encode_error(error)[1:]))


class Engine:
    """One Lua state with torch in it. Its output goes to the process's standard output."""

    def __init__(self) -> None:
        self._interrupted = False
        self._lua = _new_lua()
        start = self._lua.eval(b"loadstring")(_lua_source(b"init"), b"=[th] init.lua")
        self._shell = start(self._lua.table_from(self._host()), _lua_source)
        keep_pages()
        np.seterr(all="ignore")  # as in C: inf and nan, and integers that wrap
        call = Calls(self._shell[b"hand_over"])
        lua_kernels.install(call)
        thread_pool.install(call, dict(self._shell[b"thread_pool"].items()), _new_worker_state)
        METER.collect = partial(call, b"collect")
        BLOCKS.leave = partial(call, b"leave_block")
        self._functions: dict[bytes, Callable[..., Any]] = {}
        weakref.finalize(self, self._shell[b"close"])  # with the process, at the latest

    def _host(self) -> dict[bytes, Any]:
        return {
            **bridge.host_functions(),
            b"export_lua": _export_lua,
            b"INTERRUPTED": INTERRUPTED.encode(),
            b"LARGE": LARGE,
            b"poll": self._poll,
            b"clock": time.time,
            b"times": _times,
            b"isatty": os.isatty,
        }

    def _call(self, name: bytes, *args: Any) -> Any:
        try:
            function = self._functions.get(name)
            if function is None:
                function = self._functions[name] = self._shell[name]
            return function(*args)
        except Exception as error:
            raise _as_lua_error(error) from None

    # -- running code

    def compile(self, source: bytes, name: bytes = b"=stdin") -> Chunk:
        """Compile Lua source; name is Lua's chunk name. Raises LuaSyntaxError."""
        return self._compiled(self._call(b"compile", source, name))

    def compile_file(self, path: str) -> Chunk:
        """Compile a file. Raises LuaSyntaxError, also for a file that cannot be read."""
        return self._compiled(self._call(b"compile_file", os.fsencode(path)))

    @staticmethod
    def _compiled(result: Any) -> Chunk:
        if isinstance(result, tuple):
            _, message, incomplete = result
            raise LuaSyntaxError(_text(message), incomplete)
        return result

    def run(self, chunk: Chunk, *args: bytes) -> None:
        """Run a compiled chunk. Raises LuaError."""
        self._check(self._call(b"run", chunk, *args))

    def require(self, name: bytes) -> None:
        """Load a Lua library by name. Raises LuaError."""
        self._check(self._call(b"require", name))

    def evaluate(
        self,
        source: bytes,
        name: bytes = b"=stdin",
        before_values: Callable[[], None] | None = None,
    ) -> None:
        """Run one input as the prompt does: print the values of an expression.

        A leading '=' is accepted, a trailing ';' silences. before_values: called between what
        the expression itself prints and its values. Raises LuaSyntaxError, LuaError.
        """
        text = source.strip()
        quiet = text.endswith(b";")
        text = text.removeprefix(b"=")
        expression = self._expression(text.rstrip(b"; \t\r\n"), name)
        statement = None if expression is not None else self.compile(text, name)
        self._call(b"interpret", expression if expression is not None else statement)
        self._check(self._call(b"evaluate", expression, statement, quiet, before_values))

    def _expression(self, text: bytes, name: bytes) -> Chunk | None:
        # Not `return` alone: of a call it would make a tail call, and lose the frame that errors
        # name. A line of its own: a comment at the end must not swallow anything.
        try:
            return self.compile(b"return nil, " + text + b"\n", name)
        except LuaSyntaxError:
            return None

    def check_syntax(self, source: bytes, name: bytes = b"=stdin") -> None:
        """Raise LuaSyntaxError where an input would not compile (see `evaluate`).

        incomplete: its end is missing, be it an expression or a statement.
        """
        text = source.strip().removeprefix(b"=")
        try:
            self.compile(b"return " + text.rstrip(b"; \t\r\n") + b"\n", name)
        except LuaSyntaxError as expression:
            try:
                # The end of the line: a short string that is open there cannot be completed.
                self.compile(text + b"\n", name)
            except LuaSyntaxError as statement:
                raise (expression if expression.incomplete else statement) from None

    def _check(self, result: Any) -> None:
        if result is None:
            return
        message, traceback = map(_text, result)
        if message.endswith(INTERRUPTED):
            raise Interrupted(INTERRUPTED)
        raise LuaError(message, traceback)

    # -- interruption

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C stop the code that `evaluate` runs, with an Interrupted error.

        To be used in the main thread. Compiled loops of libraries finish first.
        """
        previous = _handle_interrupts(self._interrupt)
        self._interrupted = False
        self._call(b"set_interruptible", True)
        try:
            yield
        finally:
            _handle_interrupts(previous)
            self._interrupted = False
            self._call(b"set_interruptible", False)

    @uninterruptible  # by the next Ctrl-C
    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        # Runs between two steps of Python code: of an operation, which then stops, or of
        # `_poll`, which Lua calls now and then.
        if is_interruptible(frame):
            raise KeyboardInterrupt
        self._interrupted = True

    def _poll(self) -> bool:
        interrupted, self._interrupted = self._interrupted, False
        return interrupted

    # -- the rest

    def set_arguments(
        self, program: bytes, args: Sequence[bytes], before: Sequence[bytes] = ()
    ) -> None:
        """Set Lua's global `arg`: the program's name at 0, then the arguments.

        before: the words of the command line in front of it, which get the indices up to -1.
        """
        self._call(b"set_arguments", program, len(before), *before, *args)

    def keep(self, value: bytes) -> None:
        """Put a string among the results of the session, as `evaluate` does with its values."""
        self._call(b"keep", value)

    def names(self, path: str) -> dict[str, str]:
        """The names that may follow a dotted path ('' for globals), with their Lua types."""
        lines = _text(self._call(b"names", _bytes(path))).splitlines()
        return dict(line.split(" ") for line in lines)

    def write(self, text: str) -> None:
        """Write to the standard output, in order with what Lua writes."""
        self._call(b"write", _bytes(text))

    def flush(self) -> None:
        """Write out what is buffered."""
        self._call(b"flush")

    def output_error(self) -> str:
        """Why not all that was written reached the standard output; '' where it did."""
        return _text(self._call(b"output_error") or b"")


def _handle_interrupts(handler: Any) -> Any:
    """Set what handles Ctrl-C; returns what did."""
    while True:
        try:
            return signal.signal(signal.SIGINT, handler)
        except OSError:  # one came while none was to be handled, and Python heard of it
            continue


def _new_lua() -> Any:
    return luajit21.LuaRuntime(
        encoding=None,
        source_encoding="utf-8",
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_handlers=(_refuse, _refuse),
    )


def _export_lua() -> None:
    """Let C modules that Lua loads see Lua's C API, which the embedding library keeps private."""
    ctypes.CDLL(luajit21.__file__, ctypes.RTLD_GLOBAL)


def _new_worker_state() -> dict[bytes, Any]:
    """The functions of lua/parallel/thread_pool.lua in a Lua state of its own."""
    lua = _new_lua()
    th = lua.table()
    for name in (b"parallel/jobs", b"parallel/thread_pool"):
        lua.eval(b"loadstring")(_lua_source(name), b"=[th] %s.lua" % name)(th)
    return dict(th[b"thread_pool"].items())


def _lua_source(name: bytes) -> bytes:
    return (files("runtime") / "lua" / f"{name.decode()}.lua").read_bytes()


def _times() -> tuple[float, float, float]:
    """The time now, and the process's user and system time, in seconds."""
    try:
        import resource  # late, and not everywhere: os.times() only knows hundredths
    except ImportError:
        process = os.times()
        return time.time(), process.user, process.system
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.time(), usage.ru_utime, usage.ru_stime
