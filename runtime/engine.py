"""The embedded LuaJIT: its options, globals, errors, interruption and output.

The only module that imports lupa. Programs that it runs see Lua and ``torch``. Its methods return
text, names or compiled chunks, never Lua's objects, and raise the errors below.
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
from runtime.compute.lua_functions import LuaFunctions
from runtime.compute.thread_pool import LARGE, ThreadPool
from runtime.core.interrupts import INTERRUPTED, is_interruptible, uninterruptible
from runtime.core.memory import Memory
from runtime.core.platform import keep_pages
from runtime.core.state import State
from runtime.host import bridge
from runtime.host.guards import answering, guarded
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
    """An exception that came out of Lua, other than what lua/shell.lua reports, as a LuaError."""
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


class _CtrlC:
    """Whether Ctrl-C was pressed where Python could not stop at once; Lua asks now and then."""

    def __init__(self) -> None:
        self.pressed = False

    def poll(self) -> bool:
        """Whether it was, since the last time."""
        pressed, self.pressed = self.pressed, False
        return pressed


class Engine:
    """One Lua state with torch in it. Its output goes to the process's standard output.

    Each has its own default type, random stream, memory and threads; README.md beside this file
    tells what all engines of a process share. An engine may be used by several threads of Python,
    by one at a time. `close` gives back what it holds; so does the end of a ``with`` block, or of
    the last reference to the engine.
    """

    def __init__(self) -> None:
        self._ctrl_c = _CtrlC()
        self._state = State()
        keep_pages()
        with self.active():
            self._functions = _start(_host(self._state, self._ctrl_c))
            _connect(self._state, self._functions)
        # Nothing that Lua keeps refers to the engine itself: so it ends with its last reference.
        self._close = weakref.finalize(self, _close, self._state, self._functions)

    def close(self) -> None:
        """End the engine's threads and give back its memory; nothing runs in it any more."""
        self._close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let operations that this thread calls work for the engine, within the block.

        Numbers behave as in C: infinities and nans, and whole numbers that wrap.
        """
        with self._state.active(), np.errstate(all="ignore"):
            yield

    def _call(self, name: bytes, *args: Any) -> Any:
        function = self._functions.get(name)
        if function is None:
            raise LuaError("the engine is closed")
        try:
            with self.active():
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
        # `return f(x)` would be a tail call, whose frame is missing in tracebacks: so two values.
        # The newline ends a comment that the text may end with.
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
                # With the newline, an open string in quotes is an error, and not incomplete.
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

    # -- functions of Lua for a front end

    def module(
        self,
        source: bytes,
        name: bytes,
        *functions: Callable[..., Any],
        interruptible: bool = False,
    ) -> dict[bytes, Chunk]:
        """Run a chunk that returns a table of functions, and return these by name.

        functions: what the chunk gets as arguments, for Lua to call with plain values. They
        return a number, a boolean, bytes or None. interruptible: whether Ctrl-C ends them. Raises
        LuaError.
        """
        chunk = self.compile(source, name)
        wrapped = [guarded(answering(f), interruptible=interruptible) for f in functions]
        return dict(self._call(b"module", chunk, *wrapped).items())

    def call(self, function: Chunk, *args: bytes) -> Any:
        """Call a function of `module`; returns its result, a plain value. Raises LuaError."""
        return self._call(b"call", function, *args)

    def set_receiver(self, function: Chunk) -> None:
        """Let a function of `module` get the values of inputs before they are printed.

        Where it returns false, they are neither printed nor kept.
        """
        self._call(b"set_receiver", function)

    # -- interruption

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C stop the code that `evaluate` runs, with an Interrupted error.

        To be used in the main thread. Compiled loops of libraries finish first.
        """
        previous = _handle_interrupts(self._interrupt)
        self._ctrl_c.pressed = False
        self._call(b"set_interruptible", True)
        try:
            yield
        finally:
            _handle_interrupts(previous)
            self._ctrl_c.pressed = False
            self._call(b"set_interruptible", False)

    @uninterruptible  # by the next Ctrl-C
    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        # Runs between two steps of Python code: of an operation, which then stops, or of
        # `_CtrlC.poll`, which Lua calls now and then.
        if is_interruptible(frame):
            raise KeyboardInterrupt
        self._ctrl_c.pressed = True

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

    def set_fill_pattern(self, byte: int | None) -> None:
        """Fill new memory with a byte, instead of leaving it undetermined (None)."""
        self._state.part(Memory).fill_pattern = byte

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
        except OSError:  # a signal came just when its handler was replaced
            continue


def _host(state: State, ctrl_c: _CtrlC) -> dict[bytes, Any]:
    """What Lua finds in Python, by name."""
    return {
        **bridge.host_functions(state),
        **bridge.definitions(),
        b"export_lua": _export_lua,
        b"INTERRUPTED": INTERRUPTED.encode(),
        b"LARGE": LARGE,
        b"poll": ctrl_c.poll,
        b"clock": time.time,
        b"times": _times,
        b"isatty": os.isatty,
        **_lock_functions(),
    }


def _lock_functions() -> dict[bytes, int]:
    """Addresses of functions of Python's C API: see lua/core/python_lock.lua."""
    api = ctypes.pythonapi
    public = hasattr(api, "PyThreadState_GetUnchecked")  # from Python 3.13 on
    functions = {
        b"thread_with_lock": api[
            "PyThreadState_GetUnchecked" if public else "_PyThreadState_UncheckedGet"
        ],
        b"this_thread": api.PyGILState_GetThisThreadState,
        b"release_lock": api.PyGILState_Release,
    }
    return {
        name: ctypes.cast(function, ctypes.c_void_p).value or 0
        for name, function in functions.items()
    }


def _start(host: dict[bytes, Any]) -> dict[bytes, Any]:
    """The functions of lua/shell.lua, by name, in a new Lua state."""
    lua = _new_lua()
    start = lua.eval(b"loadstring")(_lua_source(b"init"), b"=[th] init.lua")
    return dict(start(lua.table_from(host), _lua_source).items())


def _connect(state: State, shell: dict[bytes, Any]) -> None:
    """Let the parts of a state call the functions of Lua that they need."""
    call = Calls(shell[b"hand_over"])
    state.part(LuaFunctions).call = call
    pool = dict(shell[b"thread_pool"].items())
    state.part(ThreadPool).start(pool, _new_worker_functions)
    memory = state.part(Memory)
    memory.meter.collect = partial(call, b"collect")
    memory.leave_block = partial(call, b"leave_block")


def _close(state: State, shell: dict[bytes, Any]) -> None:
    try:
        with state.active():
            shell[b"close"]()
    finally:
        state.close()
        shell.clear()


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


def _new_worker_functions() -> dict[bytes, Any]:
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
