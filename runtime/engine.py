"""The embedded LuaJIT: its options, globals, errors, interruption and output.

The only module that imports lupa. Programs that it runs see Lua and ``torch``. Its methods return
text, names or compiled chunks, never Lua's objects, and raise the errors below.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

try:
    from lupa import luajit21
except ImportError as error:
    raise ImportError(
        f"th needs LuaJIT 2.1 in lupa, whose wheels have it for Linux and not for macOS ({error}); "
        "the README tells how to build it"
    ) from error

from runtime.calls.failures import encode_error
from runtime.compute.lua_functions import LuaFunctions
from runtime.compute.thread_pool import ThreadPool
from runtime.core.arithmetic import as_in_c
from runtime.core.interrupts import INTERRUPTED, is_interruptible, uninterruptible
from runtime.core.machine import refresh_limit
from runtime.core.platform import keep_pages
from runtime.core.state import State
from runtime.facts import Facts, read_facts
from runtime.host import start
from runtime.host.guards import answering, guarded
from runtime.host.lua_calls import Calls
from runtime.host.running import describe
from runtime.inputs import EMPTY, KEEP, forms, read
from runtime.members import Members, read_members, steps_of

__all__ = ["Chunk", "Engine", "Interrupted", "LuaError", "LuaSyntaxError", "luajit_version"]

_LUA = os.path.join(os.path.dirname(__file__), "lua")

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


def _input(source: bytes) -> bytes:
    """What the prompt compiles of an input: no blanks around it, no leading '='.

    The lines above it stay, for the line numbers.
    """
    text = source.lstrip()
    above = source.count(b"\n", 0, len(source) - len(text))
    return b"\n" * above + text.rstrip().removeprefix(b"=")


class _CtrlC:
    """Whether Ctrl-C was pressed, in memory that Lua reads; it is there until Lua clears it.

    Nothing sets it while the prompt itself works: that must not be interrupted.
    """

    def __init__(self) -> None:
        self._pressed = ctypes.c_int32(0)
        self._armed = False
        self._lock = threading.RLock()  # a signal's handler may run where this thread has it

    @property
    def address(self) -> int:
        return ctypes.addressof(self._pressed)

    def arm(self, armed: bool) -> None:
        """Whether Ctrl-C counts from now on. What was pressed before does not."""
        with self._lock:
            self._armed = armed
            self._pressed.value = 0

    def press(self) -> None:
        with self._lock:
            if self._armed:
                self._pressed.value = 1

    def poll(self) -> bool:
        """Whether it was. Calling this lets Python handle signals, too."""
        return bool(self._pressed.value)


class _Leaving:
    """What is called when the program ends the process, after what is buffered was written."""

    def __init__(self) -> None:
        self.function: Callable[[], object] | None = None

    def call(self) -> None:
        if self.function is not None:
            self.function()


class Engine:
    """One Lua state with torch in it. Its output goes to the process's standard output.

    Each has its own default type, random stream, memory and threads; README.md beside this file
    tells what all engines of a process share. An engine may be used by several threads of Python,
    by one at a time. `close` gives back what it holds; so does the end of a ``with`` block, or of
    the last reference to the engine.
    """

    def __init__(self, prepare: Callable[[Engine], None] | None = None) -> None:
        """Make the Lua state, unless there is something to prepare it with.

        prepare: called by `start`, which then makes the Lua state. Another thread may call that;
        the first use of the engine does, and waits until it is done.
        """
        self._ctrl_c = _CtrlC()
        self._leaving = _Leaving()
        self._has_locals = False  # whether an input has declared locals of the session
        self._state = State()
        self._functions: dict[bytes, Any] = {}
        self._prepare = prepare
        self._starting = threading.RLock()
        self._is_begun = self._is_started = False
        # Nothing that Lua keeps refers to the engine itself: so it ends with its last reference.
        self._close = weakref.finalize(self, _close, self._state, self._functions)
        if prepare is None:
            self.start()

    def start(self) -> None:
        """Make the Lua state, unless that is done."""
        with self._starting:
            if self._is_begun or not self._close.alive:
                return
            keep_pages()
            with self.active():
                functions = _start(_host(self._state, self._ctrl_c, self._leaving))
                _connect(self._state, functions)
            self._functions.update(functions)
            self._is_begun = True
            if self._prepare is not None:
                self._prepare(self)
            self._is_started = True

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
        with self._state.active(), as_in_c():
            yield

    def load(self) -> None:
        """Load what the engine otherwise loads when a program first needs it: the operations."""
        self._call(b"load")

    def _call(self, name: bytes, *args: Any) -> Any:
        try:
            if not self._is_started:
                self.start()
            function = self._functions.get(name)
            if function is None:
                raise LuaError("the engine is closed")
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

    # -- what a prompt shows of the session

    def inspect(self, path: str, statistics: bool = False) -> Facts:
        """The facts about the value that a dotted path leads to; empty where there is none.

        No code of the program is run. statistics: also look at the elements of a tensor or
        storage, if there are very many at some of them, and at the variables that share them.
        """
        return read_facts(self._call(b"inspect", _bytes(path), statistics))

    def keep_results(self, count: int) -> None:
        """Set how many of the session's results are kept; others are dropped."""
        self._call(b"keep_results", count)

    def use_prompt_who(self) -> None:
        """Let the global function who list sizes, bytes and shared memory, as a prompt needs it.

        Without this, it is the reference's, which scripts and pages see.
        """
        self._call(b"use_prompt_who")

    # -- running one input

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
        text = _input(source)
        quiet = text.endswith(b";")
        expression = self._expression(text.rstrip(b"; \t\r\n"), name)
        statement = None if expression is not None else self.compile(text, name)
        self._check(self._call(b"evaluate", expression, statement, quiet, before_values))

    def _expression(self, text: bytes, name: bytes) -> Chunk | None:
        # `return f(x)` would be a tail call, whose frame is missing in tracebacks: so two values.
        # The newline ends a comment that the text may end with.
        try:
            return self.compile(b"return nil, " + text + b"\n", name)
        except LuaSyntaxError:
            return None

    def check_syntax(self, source: bytes) -> None:
        """Raise LuaSyntaxError where an input would not compile (see `enter`).

        incomplete: its end is missing, be it an expression or a statement.
        """
        text = _input(source)
        if not text.strip(EMPTY):
            return
        # With the newline, an open string in quotes is an error, and not incomplete.
        error = self._call(b"check", b"return " + text.rstrip(EMPTY) + b"\n", text + b"\n")
        if error is None:
            return
        last = read(text).last
        if last is not None:
            form = text[: last.offset] + b"return " + text[last.offset :].rstrip(EMPTY) + b"\n"
            other = self._call(b"compile", form, b"=stdin")
            if not isinstance(other, tuple):
                return
            error = other[1:] if other[2] else error
        raise LuaSyntaxError(_text(error[0]), error[1])

    def enter(
        self,
        source: bytes,
        name: bytes = b"=stdin",
        number: int | None = None,
        before_values: Callable[[], None] | None = None,
    ) -> None:
        """Run one input of a session, as `evaluate` does.

        The locals that it declares outlive it; an expression behind statements is printed, too; and
        an input of nothing but semicolons does nothing. number: the input's first value is `_N` in
        later ones. Raises LuaSyntaxError, LuaError.
        """
        text = _input(source)
        quiet = text.endswith(b";")
        if not text.strip(EMPTY):
            return
        # Torch7: the LuaJIT of its builds allows empty statements, as in `x = 5;;`.
        text = text.rstrip(EMPTY)
        result = self._enter(text, name, number, quiet, before_values)
        if result is not None and not isinstance(result[1], bytes):
            raise LuaSyntaxError(_text(result[0]), result[1])
        self._check(result)

    def _enter(self, text: bytes, *how: Any) -> Any:
        if not (self._has_locals or b"local" in text or b"_" in text):
            # Most inputs have nothing that must be found by reading them, if they compile.
            result = self._call(b"enter", *how, b"", b"", *forms(text, None))
            if result is None or isinstance(result[1], bytes):
                return result
        found = read(text)
        self._has_locals = self._has_locals or bool(found.locals)
        names, declared = b" ".join(found.names), b" ".join(found.locals)
        return self._call(b"enter", *how, names, declared, *forms(text, found))

    def _check(self, result: Any) -> None:
        if result is None:
            return
        message, traceback = map(_text, result)
        if message.endswith(INTERRUPTED):
            raise Interrupted(INTERRUPTED)
        raise LuaError(message, traceback)

    # -- for prompts

    def start_samples(self) -> None:
        """Begin to note every millisecond of processor time which line of the program runs."""
        self._call(b"start_samples")

    def end_samples(self) -> list[tuple[str, str, int]]:
        """End it; returns places 'chunk:line', LuaJIT's state there, and how often both were so.

        The states are N (compiled code), I (interpreted), C (C and Python), G (collects garbage)
        and J (compiles).
        """
        lines = _text(self._call(b"end_samples")).splitlines()
        fields = (line.rsplit("\t", 2) for line in lines)
        return [(place, state, int(count)) for place, state, count in fields]

    def set_elision(self, limit: int | None) -> None:
        """Let `evaluate` show only a part of values with more elements than limit (0, None: all).

        Elements are those of tensors, and entries of tables; ten characters of a string are one.
        """
        self._call(b"set_elision", limit or None)

    def define(self, name: str, function: Callable[..., str | None]) -> None:
        """Make a global of Lua from a function of Python, which gets values.

        Tensors and storages become arrays of numpy, copies, and strings str; other objects are an
        error. The text that it returns is printed. Its ValueError is an error of Lua's.
        """
        from runtime.host.door import door  # which only prompts need

        self._call(b"define", _bytes(name), door(name, function))

    def find_module(self, name: str) -> str | None:
        """The file that Lua's `require` would load for a module; nothing is loaded.

        '' for a module that is there without a file, None where there is none.
        """
        found = self._call(b"find_module", _bytes(name))
        return None if found is None else _text(found)

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

        To be used in the main thread. Code that LuaJIT has compiled stops where `count_loops` has
        put counters into it.
        """
        refresh_limit()
        self._call(b"set_interruptible", True)
        self._ctrl_c.arm(True)
        previous = _handle_interrupts(self._handle_interrupt)
        try:
            yield
        finally:
            self._ctrl_c.arm(False)
            _handle_interrupts(previous)
            self._call(b"set_interruptible", False)

    def count_loops(self) -> None:
        """Let Ctrl-C stop the loops of all that is loaded from now on.

        Counters are put into their bytecode, where programs do not see them.
        """
        self._call(b"count_loops")

    def interrupt(self) -> None:
        """Stop Lua code as Ctrl-C does, where it is `interruptible`. Any thread may call this."""
        self._ctrl_c.press()

    def running(self) -> str:
        """What the main thread does now, as ``torch.sort``. Any thread may call this."""
        return describe(threading.main_thread().ident or 0)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed within `interruptible` and has stopped nothing yet."""
        return self._ctrl_c.poll()

    @uninterruptible  # by the next Ctrl-C
    def _handle_interrupt(self, _: int, frame: FrameType | None) -> None:
        # Runs between two steps of Python code: of an operation, which then stops, or of
        # `_CtrlC.poll`, which Lua calls now and then.
        self._ctrl_c.press()
        if is_interruptible(frame):
            raise KeyboardInterrupt

    # -- the rest

    @contextmanager
    def before_exit(self, function: Callable[[], object]) -> Iterator[None]:
        """Let a function be called within the block when the program calls `os.exit`."""
        self._leaving.function = function
        try:
            yield
        finally:
            self._leaving.function = None

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

    def names(self, path: str, prefix: str = "", limit: int = 0) -> dict[str, str]:
        """The names that may follow a dotted path ('' for globals), with their Lua types."""
        found = self.members(steps_of(path), prefix, limit).found
        return {member.name: member.kind for member in found}

    def members(
        self, steps: Sequence[str], prefix: str = "", limit: int = 0, any_text: bool = False
    ) -> Members:
        """The names that may follow a path, whose steps lua/names.lua tells; no code is run.

        limit: how many, and the others are counted; 0: all. any_text: strings that are no names
        count, too.
        """
        path = map(_bytes, steps)
        return read_members(*self._call(b"names", _bytes(prefix), limit, any_text, *path))

    def text_of(self, steps: Sequence[str]) -> tuple[str, str | None]:
        """The Lua type of the value that a path leads to, and its text.

        The text is None for what is no string, number or boolean.
        """
        kind, text = self._call(b"text_of", *map(_bytes, steps))
        return _text(kind), None if text is None else _text(text)

    def set_default_type(self, name: str) -> str:
        """Set the default type of tensors by its name; returns the former one. Raises LuaError."""
        return _text(self._call(b"set_default_type", _bytes(name)) or b"")

    def set_fill_pattern(self, byte: int | None) -> None:
        """Fill new memory with a byte, instead of leaving it undetermined (None)."""
        from runtime.core.memory import Memory  # late: it loads numpy

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


def _host(state: State, ctrl_c: _CtrlC, leaving: _Leaving) -> dict[bytes, Any]:
    """What Lua finds in Python, by name."""
    return {
        **start.host_functions(state),
        **start.definitions(),
        b"export_lua": _export_lua,
        b"KEEP": KEEP,
        b"poll": ctrl_c.poll,
        b"pressed": ctrl_c.address,
        b"leaving": leaving.call,
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


def _close(state: State, shell: dict[bytes, Any]) -> None:
    try:
        if shell:
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


def luajit_version() -> str:
    """The version of LuaJIT, as `jit.version` tells it: 'LuaJIT 2.1.1700000000'."""
    return _text(_new_lua().eval(b"jit.version"))


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
    with open(f"{_LUA}/{name.decode()}.lua", "rb") as file:
        return file.read()
