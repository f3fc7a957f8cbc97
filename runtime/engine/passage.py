"""The way of a Python program's calls into Lua, which is short: many calls take no time in Lua.

What only operations of Python's need waits for the first one: that numbers behave as in C, and that
Ctrl-C does not end what must be finished.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from runtime.compute.lua_functions import LuaFunctions
from runtime.core.state import GUESTS, THREAD
from runtime.engine.ctrl_c import CtrlC
from runtime.engine.lua_state import CLOSED, LuaState
from runtime.engine.output import Output
from runtime.errors import Interrupted, LuaError, as_lua_error


class Passage:
    """Calls functions of lua/values.lua, of one engine."""

    def __init__(self, lua: LuaState, ctrl_c: CtrlC) -> None:
        self._lua = lua
        self._ctrl_c = ctrl_c
        self._turn = lua.turn
        self._functions = lua.functions
        self._output = lua.state.part(Output)
        self._settled: np.errstate | None = None
        self._has_taken_over = False
        GUESTS[:] = [True]
        ctrl_c.arm(True)

    def __call__(self, *args: Any) -> Any:
        """Call one by its name; returns its results as they are. Raises LuaError."""
        with self._turn:
            if self._lua.depth:
                return self._within(args)
            self._lua.passing.waiting[0] = args
            try:
                return self.quickly(b"values")
            finally:
                self._lua.passing.waiting[0] = ()

    def quickly(self, name: bytes, *numbers: float) -> Any:
        """Call one of those that `begin` has registered, with numbers, which need no memory."""
        lua, ctrl_c = self._lua, self._ctrl_c
        with self._turn:
            if lua.depth:
                return self._within((name, *numbers))
            before, state = THREAD.state, lua.state
            # Ctrl-C may end what follows wherever a function is called.
            try:
                lua.depth = 1
                THREAD.state, state.late = state, self._settle
                ctrl_c.pressed.value, ctrl_c.ending = 0, None
                if lua.is_closed:  # asked behind that: see `LuaState.close`
                    raise LuaError(CLOSED)
                if sys.stdout is not self._output.seen:
                    self._output.look()
                return self._functions[name](*numbers)
            except Exception as error:
                lua.check_open()
                raise self._as_ending(as_lua_error(error)) from None
            finally:
                THREAD.state = before
                lua.depth = 0
                if state.late is None or lua.is_closed or self._output.stream:
                    self._finish()
                state.late = None

    def _within(self, args: tuple[Any, ...]) -> Any:
        """The same where Lua waits for Python: see runtime/host/lua_calls.py."""
        self._lua.check_open()
        before, THREAD.state = THREAD.state, self._lua.state
        try:
            self.look_at_output()
            return self._lua.state.part(LuaFunctions).call(b"values", *args)
        except IndexError:
            raise LuaError("Lua and Python call each other too deeply") from None
        except Exception as error:
            raise as_lua_error(error) from None
        finally:
            THREAD.state = before
            self.look_at_output()

    def look_at_output(self) -> None:
        """Pass on what Lua has written, and see where it is to write now."""
        self._output.drain()
        if sys.stdout is not self._output.seen:
            self._output.look()

    def _as_ending(self, error: LuaError) -> BaseException:
        return self._ctrl_c.ending or error if isinstance(error, Interrupted) else error

    def _settle(self) -> None:
        self._has_taken_over = self._ctrl_c.take_over()
        self._settled = np.errstate(all="ignore")
        self._settled.__enter__()

    def _finish(self) -> None:
        settled, self._settled = self._settled, None
        if self._lua.is_closed:
            self._lua.end()
        if settled is not None:
            settled.__exit__(None, None, None)
        try:
            self._output.drain()
        finally:
            if settled is not None and self._has_taken_over:
                self._ctrl_c.give_back()
