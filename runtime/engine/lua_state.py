"""The Lua state of an engine: when it is made, how its functions are called, how it ends."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from operator import itemgetter
from typing import Any

from th_shell.runtime.compute.blas_threads import one_thread, starts_with_many
from th_shell.runtime.compute.luajit import shell_functions, worker_functions
from th_shell.runtime.compute.thread_pool import LuaFunctions, ThreadPool
from th_shell.runtime.core.interrupts import INTERRUPTED
from th_shell.runtime.core.platform import keep_pages
from th_shell.runtime.core.state import State, as_in_c
from th_shell.runtime.core.system import Stopping
from th_shell.runtime.engine import workers
from th_shell.runtime.engine.ctrl_c import CtrlC
from th_shell.runtime.engine.debugging import DebuggerLine
from th_shell.runtime.engine.input_reader import KEEP
from th_shell.runtime.errors import OUT_OF_MEMORY, Interrupted, LuaError, as_lua_error
from th_shell.runtime.host import host_table
from th_shell.runtime.host.lua_calls import Calls

CLOSED = "the engine is closed"


class _Passing:
    """Passes arguments to functions of Lua, which take them: see lua/core/python_lock.lua."""

    def __init__(self) -> None:
        #: The arguments of the last call alone.
        self.waiting: list[tuple[Any, ...]] = [()]
        #: Returns them; Lua calls this, again if it had no memory for them. No function of
        #: Python's code: before one begins, Python handles signals, and may raise an exception.
        self.take = partial(itemgetter(0), self.waiting)

    def call(self, function: Callable[[], Any], *args: Any) -> Any:
        """Call a function of engine/shell.lua."""
        self.waiting[0] = args
        try:
            return function()
        finally:
            self.waiting[0] = ()


class LuaState:
    """A Lua state with torch, whose functions are those of engine/shell.lua.

    Nothing that Lua keeps refers to this object: so it ends with its last reference.
    """

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        """Make it at once; or where there is something to prepare it with, when it is first used.

        prepare: called once it is made, before anything else may use it.
        """
        #: The parts of the engine besides Lua.
        self.state = State()
        self.ctrl_c = CtrlC()
        #: The line to a debugger, which is asked what to do where a program stops.
        self.debugger = DebuggerLine()
        #: Functions to call when the program ends the process, after buffers were written.
        self.at_exit: list[Callable[[], object]] = []
        #: The lock of the thread that runs Lua. Callers that must not be interrupted between two
        #: calls hold it, too; they take it after `start`.
        self.turn = threading.RLock()
        self.passing = _Passing()
        #: The functions of engine/shell.lua and its neighbours, by name.
        self.functions: dict[bytes, Any] = {}
        #: Whether the Lua state is made. Otherwise the first call makes it, which takes a while.
        self.is_started = False
        #: The number of calls that have not returned; only the thread whose turn it is reads it.
        self.depth = 0
        self.is_closed = False
        #: Closes the Lua state; must not be called while it runs.
        self.end = weakref.finalize(self, _close, self.state, self.functions)
        self._prepare = prepare
        self._starting = threading.RLock()
        self._is_begun = False
        self.state.part(Stopping).told = self.ctrl_c.pressed
        if prepare is None:
            self.start()

    def start(self) -> None:
        """Make it, unless that is done."""
        with self._starting:
            if self._is_begun or not self.end.alive:
                return
            keep_pages()
            with self.active():
                functions = shell_functions(self._all_of_host())
                _connect(self.state, functions, self.passing)
            self.functions.update(functions)
            self._is_begun = True
            # What prepares an engine refers to it, and must not keep it.
            prepare, self._prepare = self._prepare, None
            if prepare is not None:
                prepare()
            self.is_started = True

    def _all_of_host(self) -> dict[bytes, Any]:
        return {
            **host_table.host_functions(self.state),
            **host_table.definitions(),
            b"take_arguments": self.passing.take,
            b"KEEP": KEEP,
            b"poll": self.ctrl_c.poll,
            b"pressed": self.ctrl_c.address,
            b"stop_by": self.ctrl_c.stop_by,
            b"leave": self.ctrl_c.leave,
            b"leaving": partial(_call_all, self.at_exit),
            **workers.functions(),
            **self.debugger.functions(),
        }

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let operations that this thread calls work for this state, within the block.

        Numbers behave as in C: infinities and nans, and whole numbers that wrap.
        """
        with self.state.active(), as_in_c(), one_thread if starts_with_many() else nullcontext():
            yield

    def call(self, name: bytes, *args: Any) -> Any:
        """Call a function by name. Raises LuaError, for whatever comes out of Lua."""
        try:
            if not self.is_started:
                self.start()
            with self.turn, self.active():
                self.check_open()
                return self._call_now(name, args)
        except Exception as error:
            raise self.failure(error) from None

    def failure(self, error: Exception) -> LuaError:
        """Return the LuaError for what came out of Lua; collect garbage where memory ran out."""
        failure = as_lua_error(error)
        if failure.message == OUT_OF_MEMORY and self.functions:
            for name in (b"collect_all", b"make_room"):
                with suppress(Exception):
                    self.functions[name]()
        return failure

    def _call_now(self, name: bytes, args: tuple[Any, ...]) -> Any:
        self.depth += 1
        try:
            return self.passing.call(self.functions[name], *args)
        finally:
            self.depth -= 1
            if self.is_closed and not self.depth:
                self.end()

    def check_open(self) -> None:
        """Raise LuaError where it is closed."""
        if self.is_closed or not self.end.alive:
            raise LuaError(CLOSED)

    def interrupt(self) -> None:
        """Stop the Lua code that runs, by an Interrupted error: see `Engine.interrupt`."""
        if self.depth:
            self.ctrl_c.stop(Interrupted(INTERRUPTED))
        else:
            self.ctrl_c.press(Interrupted(INTERRUPTED))

    def close(self) -> None:
        """Let nothing be called any more, and end it: once it no longer runs.

        A Python function that Lua has called may close it, while Lua waits for the function. What
        another thread runs in it is stopped.
        """
        self.is_closed = True
        if not self.turn.acquire(blocking=False):
            self.ctrl_c.stop(LuaError(CLOSED))
            self.turn.acquire()
        try:
            if not self.depth:
                self.end()
        finally:
            self.turn.release()


def _connect(state: State, shell: dict[bytes, Any], passing: _Passing) -> None:
    """Let the parts of a state call the functions of Lua that they need."""
    call = Calls(partial(passing.call, shell[b"hand_over"]))
    state.part(LuaFunctions).call = call
    pool = dict(shell[b"thread_pool"].items())
    state.part(ThreadPool).start(pool, worker_functions)


def _call_all(functions: list[Callable[[], object]]) -> None:
    for function in functions:
        function()


def _close(state: State, shell: dict[bytes, Any]) -> None:
    try:
        if shell:
            with state.active(), suppress(MemoryError):  # Lua's own: its error was told before
                shell[b"close"]()
    finally:
        state.close()
        shell.clear()
