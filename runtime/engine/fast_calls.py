"""The way of a Python program's calls into Lua, which is short: many calls take no time in Lua.

What only operations of Python's need waits for the first one: that numbers behave as in C, and that
Ctrl-C does not end what must be finished.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from th_shell.runtime.compute.thread_pool import LuaFunctions
from th_shell.runtime.core.state import GUESTS, THREAD, this_thread
from th_shell.runtime.engine.ctrl_c import CtrlC, hear_in_finalizers
from th_shell.runtime.engine.lua_state import CLOSED, LuaState
from th_shell.runtime.engine.output import Output
from th_shell.runtime.errors import Interrupted, LuaError, as_lua_error


class Passage:
    """Calls functions of engine/values.lua, of one engine."""

    def __init__(self, lua: LuaState) -> None:
        self._lua = lua
        self._ctrl_c = ctrl_c = lua.ctrl_c
        # Called directly: `with` takes 80 ns more, of a call of 1.3 µs.
        self._acquire, self._release = lua.turn.acquire, lua.turn.release
        self._is_turn = lua.turn._is_owned  # type: ignore[attr-defined]
        self._functions = lua.functions
        self._waiting = lua.passing.waiting
        self._output = lua.state.part(Output)
        self._late = _Late(ctrl_c)
        if not GUESTS:
            GUESTS.append(True)
            hear_in_finalizers()
        ctrl_c.arm(True)

    def __call__(self, *args: Any) -> Any:
        """Call one by its name; returns its results as they are. Raises LuaError."""
        return self.quickly(b"values", (), args)

    def quickly(
        self, name: bytes, numbers: tuple[float | None, ...], args: tuple[Any, ...] = ()
    ) -> Any:
        """Call one of those that `begin` has registered.

        numbers: for its parameters; they need no memory. args: what it takes from Python.
        """
        lua, ctrl_c, output = self._lua, self._ctrl_c, self._output
        if lua.depth and self._is_turn():
            return self._within(name, numbers, args)
        # Ctrl-C may end what follows wherever a function is called.
        try:
            self._acquire()
            place, state = THREAD.place or this_thread(), lua.state
            before = place.state
            try:
                lua.depth = 1
                if args:
                    self._waiting[0] = args
                place.state, state.late = state, self._late
                if ctrl_c.ending is not None:
                    ctrl_c.arm(True)
                if lua.is_closed:  # asked behind that: see `LuaState.close`
                    raise LuaError(CLOSED)
                if sys.stdout is not output.seen:
                    output.look()
                return self._functions[name](*numbers)
            except Exception as error:
                lua.check_open()
                raise self._as_ending(lua.failure(error)) from None
            finally:
                place.state = before
                lua.depth = 0
                if args:
                    self._waiting[0] = ()
                if state.late is None or lua.is_closed or output.stream is not None:
                    self._finish()
                state.late = None
        finally:
            try:
                self._release()
            except RuntimeError:
                pass  # Ctrl-C came while it waited for its turn

    def _within(self, name: bytes, numbers: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """Call Lua while Lua waits for Python: see runtime/host/lua_calls.py."""
        self._lua.check_open()
        place = this_thread()
        before, place.state = place.state, self._lua.state
        try:
            self.look_at_output()
            call = self._lua.state.part(LuaFunctions).call
            if name == b"values":
                return call(name, *args)
            self._waiting[0] = args
            return call(b"values", name, *numbers)
        except IndexError:
            raise LuaError("Lua and Python call each other too deeply") from None
        except Exception as error:
            raise as_lua_error(error) from None
        finally:
            place.state, self._waiting[0] = before, ()
            self.look_at_output()

    def look_at_output(self) -> None:
        """Pass on what Lua has written, and see where it is to write now."""
        self._output.drain()
        if sys.stdout is not self._output.seen:
            self._output.look()

    def _as_ending(self, error: LuaError) -> BaseException:
        return self._ctrl_c.ending or error if isinstance(error, Interrupted) else error

    def _finish(self) -> None:
        if self._lua.is_closed:
            self._lua.end()
        try:
            self._output.drain()
        finally:
            self._late.undo()


class _Late:
    """Settings that are made once an operation begins in a call, and undone where the call ends."""

    def __init__(self, ctrl_c: CtrlC) -> None:
        self._ctrl_c = ctrl_c
        self._numbers: np.errstate | None = None
        self._has_taken_over = False

    def __call__(self) -> None:
        self._has_taken_over = self._ctrl_c.take_over()
        self._numbers = np.errstate(all="ignore")
        self._numbers.__enter__()

    def undo(self) -> None:
        """Undo it, if it was done. Raises KeyboardInterrupt where nothing has heard of it."""
        numbers, self._numbers = self._numbers, None
        if numbers is not None:
            numbers.__exit__(None, None, None)
            if self._has_taken_over:
                self._ctrl_c.give_back()
