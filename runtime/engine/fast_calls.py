"""Calls of Lua functions by Python programs.

Many of these functions return within a microsecond, so that the call itself is what takes time. A
call here does only what every function needs. Three settings that only operations in Python need
are made when the first operation of the call begins: that numbers behave as in C, that BLAS has one
thread, and that Ctrl-C waits for what must be finished.
"""

from typing import Any

import numpy as np

from th_shell.runtime.compute.blas_threads import one_thread, starts_with_many
from th_shell.runtime.compute.thread_pool import LuaFunctions
from th_shell.runtime.core.state import GUESTS, THREAD, this_thread
from th_shell.runtime.engine.ctrl_c import CtrlC, hear_in_finalizers
from th_shell.runtime.engine.lua_state import CLOSED, LuaState
from th_shell.runtime.engine.output import Output
from th_shell.runtime.engine.time_limits import TimeLimits
from th_shell.runtime.errors import Interrupted, LuaError, as_lua_error


class FastCalls:
    """Calls functions of engine/values.lua, in one engine."""

    def __init__(self, lua: LuaState) -> None:
        self._lua = lua
        self._ctrl_c = ctrl_c = lua.ctrl_c
        # Called directly: `with` takes 80 ns more, of a call of 1.3 µs.
        self._acquire, self._release = lua.turn.acquire, lua.turn.release
        self._is_turn = lua.turn._is_owned  # type: ignore[attr-defined]
        self._functions = lua.functions
        self._waiting = lua.passing.waiting
        self.limits = TimeLimits(lua)
        self._output = lua.state.part(Output)
        self._settings = _OperationSettings(ctrl_c)
        if not GUESTS:
            GUESTS.append(True)
            hear_in_finalizers()
        ctrl_c.arm(True)

    def __call__(self, *args: Any) -> Any:
        """Call any function by its name, the first argument. Raises LuaError.

        Returns its results as lupa converts them.
        """
        return self.call(b"values", (), args)

    def call(
        self, name: bytes, numbers: tuple[float | None, ...], args: tuple[Any, ...] = ()
    ) -> Any:
        """Call one of the functions that `begin` of engine/values.lua has registered.

        numbers: its arguments; lupa passes numbers without using memory. args: other values, which
        the function fetches from Python. Raises LuaError.
        """
        lua, ctrl_c, output = self._lua, self._ctrl_c, self._output
        if lua.depth and self._is_turn():
            return self._within(name, numbers, args)
        # Ctrl-C may raise KeyboardInterrupt at each call of a function below.
        try:
            if self.limits.open:
                self.limits.take_turn()
            else:
                self._acquire()
            place, state = THREAD.place or this_thread(), lua.state
            before = place.state
            try:
                lua.depth = 1
                if args:
                    self._waiting[0] = args
                place.state, state.late = state, self._settings
                if ctrl_c.ending is not None:
                    ctrl_c.arm(True)
                if lua.is_closed:  # to be read after depth is set: see `LuaState.close`
                    raise LuaError(CLOSED)
                output.enter()
                return self._functions[name](*numbers)
            except Exception as error:
                lua.check_open()
                raise self._raised_by(lua.failure(error)) from None
            finally:
                place.state, place.ending = before, ctrl_c.ending
                lua.depth = 0
                if args:
                    self._waiting[0] = ()
                if state.late is None or lua.is_closed or output.stream is not None:
                    self._finish()
                state.late = None
                if self.limits.open:
                    self.limits.hold([])
        finally:
            try:
                self._release()
            except RuntimeError:
                pass  # Ctrl-C came, or a limit ended, while this thread waited for its turn

    def _within(self, name: bytes, numbers: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """Call Lua from a Python function that Lua has called: see runtime/host/lua_calls.py."""
        self._lua.check_open()
        place = this_thread()
        before, place.state = place.state, self._lua.state
        try:
            self.follow_output()
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
            place.state, place.ending, self._waiting[0] = before, self._ctrl_c.ending, ()
            self.follow_output()

    def follow_output(self) -> None:
        """Pass on what Lua has written, and let it write behind what is in `sys.stdout` now."""
        self._output.drain()
        self._output.enter()

    def _raised_by(self, error: LuaError) -> BaseException:
        """Return what Ctrl-C or `close` is to raise, if that has stopped Lua; else the error."""
        return self._ctrl_c.ending or error if isinstance(error, Interrupted) else error

    def _finish(self) -> None:
        """Close the engine if that was asked for, pass on output, and undo the settings."""
        if self._lua.is_closed:
            self._lua.end()
        try:
            self._output.drain()
        finally:
            self._settings.undo()


class _OperationSettings:
    """Settings for operations: made when a call's first one begins, undone when the call ends."""

    def __init__(self, ctrl_c: CtrlC) -> None:
        self._ctrl_c = ctrl_c
        self._numbers: np.errstate | None = None
        self._has_one_thread = self._has_taken_over = False

    def __call__(self) -> None:
        """Make the settings; `settle` calls this."""
        self._has_taken_over = self._ctrl_c.take_over()
        self._numbers = np.errstate(all="ignore")
        self._numbers.__enter__()
        self._has_one_thread = starts_with_many()
        if self._has_one_thread:
            one_thread.__enter__()

    def undo(self) -> None:
        """Undo the settings, if they were made.

        Raises KeyboardInterrupt after a Ctrl-C that nothing has answered yet.
        """
        numbers, self._numbers = self._numbers, None
        if numbers is not None:
            numbers.__exit__(None, None, None)
            if self._has_one_thread:
                one_thread.__exit__()
            if self._has_taken_over:
                self._ctrl_c.give_back()
