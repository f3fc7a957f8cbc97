"""How values cross between Python programs and an engine's Lua, and how its errors reach them.

lua/values.lua tells how values look when they cross. Tensors have the same memory on both sides.
An error of Lua is a LuaError; if a Python function has caused it, that function's exception is its
cause.
"""

from __future__ import annotations

import re
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from runtime.calls.classes import class_id
from runtime.compute.lua_functions import LuaFunctions
from runtime.core.interrupts import INTERRUPTED, mark_interruptible, uninterruptible
from runtime.core.tensor import Tensor
from runtime.core.texts import to_bytes, to_text
from runtime.engine.ctrl_c import CtrlC, is_left_to_python
from runtime.engine.lua_state import LuaState
from runtime.engine.proxies import LuaObject, made_for
from runtime.errors import LuaError, as_lua_error
from runtime.pytorch.tensors.lua_tensors import from_lua
from runtime.t7.faces import check_writable, lua_tensor, storage_face, storage_of, tensor_of
from runtime.t7.kinds import plain_string
from runtime.t7.values import Function, TorchObject
from runtime.t7.writer import lua_number

_FILLED = 100  # entries that are set at a time
_RELEASED = 500  # values that Lua is told to forget at a time
_OWN_POSITION = re.compile(r"^\[th\] \S+:\d+: ")


class Values:
    """The values of one engine, which a program sees."""

    def __init__(self, lua: LuaState, ctrl_c: CtrlC) -> None:
        self._lua = lua
        self._ctrl_c = ctrl_c
        self._dropped: deque[int] = deque()
        self._callbacks = 0  # of Python functions that Lua has called, how many have not returned
        self._depth = 0  # of calls of Lua that have not returned
        self._raised: list[tuple[str, BaseException]] = []
        self._call(b"values", b"begin")

    # -- calls

    def ask(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> Any:
        """Call a function of lua/values.lua; returns its results behind nil. Raises LuaError.

        given: Python's values, behind the other arguments. KeyboardInterrupt is raised where Ctrl-C
        has stopped Lua: in the main thread, unless the program handles SIGINT itself.
        """
        self._lua.start()
        with self._lua.turn:
            return self._ask_in_turn(name, args, given)

    def _ask_in_turn(self, name: bytes, args: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
        made: dict[int, int] = {}
        try:
            pairs = [part for value in given for part in self._to(value, made)]
            if self._depth or not is_left_to_python():
                return self._ask(b"values", name, *args, *pairs)
            return self._ctrl_c.watched(self._ask, b"stoppable_values", name, *args, *pairs)
        finally:
            self._dropped.extend(made.values())

    def _ask(self, function: bytes, *args: Any) -> Any:
        self._depth += 1
        try:
            if self._dropped:
                self._forget()
            return self._results(self._call(function, *args))
        finally:
            self._depth -= 1
            if not self._depth:
                self._raised.clear()

    def _call(self, function: bytes, *args: Any) -> Any:
        if not self._callbacks:
            return self._lua.call(function, *args)
        # Lua waits for a Python function: see runtime/host/lua_calls.py.
        self._lua.check_open()
        try:
            with self._lua.active():
                return self._lua.state.part(LuaFunctions).call(function, *args)
        except IndexError:
            raise LuaError("Lua and Python call each other too deeply") from None
        except Exception as error:
            raise as_lua_error(error) from None

    def _results(self, results: Any) -> Any:
        """What follows the nil of results; for an error, raises it."""
        first, *rest = results if isinstance(results, tuple) else (results,)
        if first is not None:
            self._fail(first, rest[0] if rest else b"")
        return tuple(rest)

    def _fail(self, message: bytes, traceback: bytes) -> NoReturn:
        text, frames = _OWN_POSITION.sub("", to_text(message)), to_text(traceback or b"")
        if text.endswith(INTERRUPTED):
            raise KeyboardInterrupt
        cause = next((e for raised, e in reversed(self._raised) if text.endswith(raised)), None)
        if cause is not None and not isinstance(cause, Exception):
            raise cause  # such as SystemExit
        error = LuaError(text, frames)
        if frames and hasattr(error, "add_note"):
            error.add_note(frames)
        raise error from cause

    def value(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> Any:
        """The value that the results of a function stand for; of several a tuple."""
        found = self.values(name, *args, given=given)
        return found[0] if len(found) == 1 else tuple(found) if found else None

    def values(self, name: bytes, *args: Any, given: tuple[Any, ...] = ()) -> list[Any]:
        """All values that the results of a function stand for."""
        return self.from_pairs(self.ask(name, *args, given=given))

    def drop(self, number: int) -> None:
        """Let Lua forget a value before the next call. Any thread may call this."""
        self._dropped.append(number)

    def _forget(self) -> None:
        dropped = self._dropped
        numbers = [dropped.popleft() for _ in range(min(len(dropped), _RELEASED))]
        self._call(b"values", b"drop", *numbers)

    # -- from Lua

    def from_pairs(self, pairs: tuple[Any, ...]) -> list[Any]:
        """The values that some pairs stand for."""
        return [self._from(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]

    def _from(self, value: Any, mark: bytes | None) -> Any:
        if mark is None:
            return plain_string(value) if isinstance(value, bytes) else value
        if mark == b"-0":
            return -0.0
        if mark != b"object":
            return made_for(self, int(value), mark)
        storage = value.storage if isinstance(value, Tensor) else value
        if storage is not None:
            with self._lua.active():
                storage.leave_block()
        return from_lua(value) if isinstance(value, Tensor) else storage_face(value)

    # -- to Lua

    def _to(self, value: Any, made: dict[int, int]) -> tuple[Any, Any]:
        """made: the numbers of the tables that were made for Python's containers."""
        if value is None or isinstance(value, (bool, np.bool_)):
            return None if value is None else bool(value), None
        if isinstance(value, (int, float, np.number)):
            number = lua_number(value)
            return number, b"-0" if number == 0 and str(number) == "-0.0" else None
        if isinstance(value, (str, bytes, bytearray)):
            return to_bytes(value) if isinstance(value, str) else bytes(value), None
        if isinstance(value, LuaObject):
            if value._crossing is not self:
                raise ValueError("the value is of another engine")
            return value._number, b"kept"
        if isinstance(value, _CONTAINERS):
            return self._to_table(value, made), b"kept"
        return self._to_object(value)

    def _to_object(self, value: Any) -> tuple[Any, Any]:
        storage = storage_of(value)
        if storage is not None:
            check_writable(storage)
            return storage, class_id(type(storage))
        with self._lua.active():
            tensor = tensor_of(value)
            if tensor is not None:
                made = lua_tensor(tensor)
                if made.storage is not None:
                    check_writable(made.storage)
                return made, class_id(type(made))
        if isinstance(value, Function):
            raise TypeError("functions in files are not loaded; Lua's torch.load does that")
        if callable(value):
            return self._callback(value), b"function"
        raise TypeError(f"Lua has no values for Python's {type(value).__name__}")

    def _to_table(self, value: Any, made: dict[int, int]) -> int:
        """The number of a new table of Lua's with what a container holds, to any depth."""
        waiting: list[Any] = []

        def convert(inner: Any) -> tuple[Any, Any]:
            if not isinstance(inner, _CONTAINERS):
                return self._to(inner, made)
            if id(inner) not in made:
                typename = None
                if isinstance(inner, TorchObject):
                    typename = to_bytes(inner.torch_typename)
                made[id(inner)] = int(self.ask(b"new", typename)[0])
                waiting.append(inner)
            return made[id(inner)], b"kept"

        number, _ = convert(value)
        while waiting:
            container = waiting.pop()
            entries = _entries(container)
            while part := list(islice(entries, _FILLED)):
                pairs = [x for entry in part for inner in entry for x in convert(inner)]
                self.ask(b"fill", made[id(container)], *pairs)
        return int(number)

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A Python function as Lua calls it: with pairs. It does not keep the engine alive."""
        reference = weakref.ref(self)

        def call(*pairs: Any) -> Any:
            crossing: Any = reference()  # it lives while Lua runs
            try:
                return crossing._answer(function, pairs)
            except BaseException as error:
                return crossing._note(error)

        # Ctrl-C is allowed by code object: see `guarded` in host/guards.py.
        call.__code__ = call.__code__.replace(co_name="called_by_lua")
        return mark_interruptible(call)

    def _answer(self, function: Callable[..., Any], pairs: tuple[Any, ...]) -> tuple[Any, ...]:
        made: dict[int, int] = {}
        self._callbacks += 1
        try:
            self._lua.check_open()
            result = function(*self.from_pairs(pairs))
            self._lua.check_open()  # the function may have closed it
            results = result if isinstance(result, tuple) else (result,)
            return None, *(part for value in results for part in self._to(value, made))
        finally:
            self._callbacks -= 1
            self._dropped.extend(made.values())  # Lua has the tables before it hears of that

    @uninterruptible
    def _note(self, error: BaseException) -> bytes:
        """Remember an exception; returns the bytes that make an error of Lua of it."""
        if isinstance(error, KeyboardInterrupt):
            return b"\0" + INTERRUPTED.encode()
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, LuaError):
            text = error.message
        self._raised.append((text, error))
        return b"\0" + to_bytes(text)


_CONTAINERS = (Mapping, list, tuple, TorchObject)


def _entries(container: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(container, TorchObject):
        container = container.fields
    pairs = container.items() if isinstance(container, Mapping) else enumerate(container, 1)
    return iter(pairs)
