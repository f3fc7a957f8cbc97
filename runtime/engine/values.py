"""Values between Python programs and an engine's Lua, and errors of Lua as Python's.

engine/values.lua tells how values look when they cross. Tensors have the same memory on both sides.
An error of Lua is a LuaError; if a Python function has caused it, that function's exception is its
cause.

Python's dicts and lists become tables, which engine/values.lua builds from a flat list
(`flattened`).
"""

from __future__ import annotations

import re
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from th_shell.runtime.calls.results import class_id
from th_shell.runtime.core.dtypes import EXACT
from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.core.interrupts import INTERRUPTED, mark_interruptible, uninterruptible
from th_shell.runtime.core.state import this_thread
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.engine.fast_calls import FastCalls
from th_shell.runtime.engine.lua_state import CLOSED, LuaState
from th_shell.runtime.engine.output import Output
from th_shell.runtime.engine.proxies import LuaObject, made_for
from th_shell.runtime.errors import LuaError
from th_shell.runtime.t7.tensors import (
    check_writable,
    lua_tensor,
    storage_of,
    storage_over,
    tensor_of,
)
from th_shell.runtime.t7.values import Function, TorchObject, plain_string
from th_shell.runtime.t7.writer import lua_number
from th_shell.torch.tensors.lua_tensors import from_lua

_FEW = 3  # arguments
_NUMBERS = frozenset((int, float, bool))
_NAMES = 1000  # at most, that have a number
_LEAST = -EXACT
_RELEASED = 500  # values that Lua is told to forget at a time
_STOP = b"\0" + INTERRUPTED.encode()
_OWN_POSITION = re.compile(r"^\[th\] \S+:\d+: ")


class _Mark(weakref.ref[Any]):
    """Tells when an object is gone that stands for a value of Lua's."""

    __slots__ = ("number",)

    number: int


class Values:
    """The values of one engine, which a program sees. arrays: tensors are arrays of numpy there."""

    def __init__(self, lua: LuaState, counts_loops: bool, stdout: Any, arrays: bool) -> None:
        self.arrays = arrays
        self._lua = lua
        self._ctrl_c = lua.ctrl_c
        self._lua_calls = FastCalls(lua)
        self.limits = self._lua_calls.limits
        self._dropped: deque[Any] = deque()  # numbers, and marks of objects that are gone
        self._marks: dict[int, _Mark] = {}
        self._raised: list[tuple[str, BaseException]] = []
        self._names: dict[Any, int] = {}  # those that have a number in Lua
        self._output = lua.state.part(Output)
        functions = lua.functions  # alone: what Lua has must not keep its state
        register = lambda new_functions: functions.update(new_functions.items())  # noqa: E731
        address = self._lua_calls(b"begin", counts_loops, register)
        self._output.connect(int(address, 16), stdout)

    # -- calls

    def ask(self, name: bytes, *args: Any, values: tuple[Any, ...] = ()) -> Any:
        """Call a function of engine/values.lua; returns its results as they cross. Raises LuaError.

        values: Python's values, behind the other arguments. What handlers of signals raise, as
        KeyboardInterrupt, is raised where that has stopped Lua.
        """
        if self._dropped:
            self._forget()
        if not values:
            return self._checked(self._lua_calls(name, *args))
        lists: list[int] = []
        try:
            return self._checked(self._lua_calls(name, *args, *self._to_all(values, lists)))
        finally:
            self._dropped.extend(lists)

    def _checked(self, results: Any) -> Any:
        if type(results) is tuple and results[0] is not None:
            self._fail(*results)
        return results

    def value(self, name: bytes, *args: Any, values: tuple[Any, ...] = ()) -> Any:
        """Return the value that the results of a function stand for; of several a tuple."""
        return self._found(self.ask(name, *args, values=values))

    def _found(self, results: Any) -> Any:
        if type(results) is not tuple:
            return plain_string(results) if type(results) is bytes else results
        values = self.from_pairs(self._checked(results)[1:])
        return values[0] if len(values) == 1 else tuple(values)

    def values(self, name: bytes, *args: Any) -> list[Any]:
        """Return the values of the pairs that a function returns."""
        results = self.ask(name, *args)
        return [] if results is None else self.from_pairs(results[1:])

    def call(self, number: int, args: tuple[Any, ...]) -> Any:
        """Call an object."""
        if self._dropped:
            self._forget()
        for value in args:
            if type(value) not in _NUMBERS or not _LEAST <= value <= EXACT:
                return self._send(b"call_plain", number, args)
        count = len(args)
        if count > _FEW:
            return self._send(b"call_plain", number, args)
        results = self._lua_calls.call(b"call_few", (number, count) + args)
        kind = type(results)
        return results if kind is int or kind is float else self._found(results)

    def get(self, number: int, key: Any) -> Any:
        """Return the value that an object has for a key."""
        if self._dropped:
            self._forget()
        kind = type(key)
        if kind is str:
            number_of_name = self._names.get(key) or self._number_of(key)
            if not number_of_name:
                return self.value(b"get", number, values=(key,))
            results = self._lua_calls.call(b"get_named", (number, number_of_name))
        elif kind is int and _LEAST <= key <= EXACT:
            results = self._lua_calls.call(b"get_number", (number, key))
        else:
            return self.value(b"get", number, values=(key,))
        kind = type(results)
        return results if kind is int or kind is float else self._found(results)

    def set(self, number: int, key: Any, value: Any) -> None:
        """Set the value that an object has for a key."""
        if self._dropped:
            self._forget()
        self._send(b"set_plain", number, (key, value))

    def field(self, number: int, name: str) -> tuple[Any, bool]:
        """Return the value of an object's field, and whether it is a method."""
        if self._dropped:
            self._forget()
        number_of_name = self._names.get(name) or self._number_of(name)
        if number_of_name:
            results = self._lua_calls.call(b"field_named", (number, number_of_name))
        else:
            results = self.ask(b"field", number, values=(name,))
        if type(results) is tuple and len(self._checked(results)) == 5:
            return self._from(*results[1:3]), results[3]
        return self._found(results), False

    def _number_of(self, name: str) -> int:
        """Return the number that a name has in Lua, which needs no memory to cross; 0 for none."""
        if len(self._names) == _NAMES:
            return 0
        return self._names.setdefault(name, self.ask(b"name", to_bytes(name)))

    def _send(self, name: bytes, number: int, args: tuple[Any, ...]) -> Any:
        """Call the function for plain values, or the general one where not all are plain."""
        plain = plain_values(args)
        if plain is None:
            return self.value(name.removesuffix(b"_plain"), number, values=args)
        return self._found(self._lua_calls.call(name, (number,), tuple(plain)))

    def _fail(self, message: bytes, traceback: bytes, *raised: Any) -> NoReturn:
        """Raise an error of Lua; raised: what it was raised with, as engine/shell.lua tells."""
        text, frames = _OWN_POSITION.sub("", to_text(message)), to_text(traceback or b"")
        if text.endswith(INTERRUPTED):  # without an ending, an operation was before it was settled
            raise this_thread().ending or KeyboardInterrupt
        cause = next((e for raised, e in reversed(self._raised) if text.endswith(raised)), None)
        error = LuaError(text, frames)
        if raised and raised[1] != b"message":
            error.value = self._from(*raised)
        if frames and hasattr(error, "add_note"):
            error.add_note(frames)
        raise error from cause

    def drop(self, number: int) -> None:
        """Let Lua forget a value before the next call. Any thread may call this."""
        self._dropped.append(number)

    def drop_after(self, value: object, number: int) -> None:
        """Let Lua forget a value when an object has gone that stands for it.

        No function of Python's code hears of that: a signal could be handled in it, and what the
        handler raises would be lost.
        """
        mark = self._marks[number] = _Mark(value, self._dropped.append)
        mark.number = number

    def _forget(self) -> None:
        if not self._lua.depth:
            self._raised.clear()
        dropped, numbers = self._dropped, []
        for _ in range(min(len(dropped), _RELEASED)):
            last = dropped.popleft()
            numbers.append(last if isinstance(last, int) else last.number)
            self._marks.pop(numbers[-1], None)
        self._lua_calls(b"drop", *numbers)

    # -- from Lua

    def from_pairs(self, pairs: tuple[Any, ...]) -> list[Any]:
        """Return the values that some pairs stand for."""
        return [self._from(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]

    def _from(self, value: Any, mark: bytes | None) -> Any:
        if mark is None:
            return plain_string(value) if isinstance(value, bytes) else value
        if mark == b"-0":
            return -0.0
        if mark != b"object":
            return made_for(self, int(value), mark)
        if not isinstance(value, Tensor):
            return storage_over(value)
        return from_lua(value).array.view() if self.arrays else from_lua(value)

    # -- to Lua

    def _to_all(self, objects: tuple[Any, ...], lists: list[int]) -> list[Any]:
        """Return the pairs for values. lists: gets the number of the table that is made of them."""
        if not any(isinstance(value, CONTAINERS) for value in objects):
            return [part for value in objects for part in self._to(value)]
        parts = iter(flattened(objects, self._to))
        lists.append(int(self.ask(b"build", parts.__next__)))
        return [lists[-1], 1, len(objects)]

    def _to(self, value: Any) -> tuple[Any, Any]:
        """Return the pair for a value that is no container."""
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
        return self._to_object(value)

    def _to_object(self, value: Any) -> tuple[Any, Any]:
        storage = storage_of(value)
        if storage is not None:
            check_writable(storage)
            return storage, class_id(type(storage))
        with self._lua.active():
            tensor = tensor_of(value)
            if tensor is not None:
                tensor_of_lua = lua_tensor(tensor)
                if tensor_of_lua.storage is not None:
                    check_writable(tensor_of_lua.storage)
                return tensor_of_lua, class_id(type(tensor_of_lua))
        if isinstance(value, Function):
            raise TypeError("functions in files are not loaded; Lua's torch.load does that")
        if callable(value):
            return self._callback(value), b"function"
        if isinstance(value, Iterator):
            return self._callback(_steps(value)), b"function"
        advice = (
            ": pass a list of what it has, or an iterator" if isinstance(value, Iterable) else ""
        )
        raise TypeError(f"Lua has no values for Python's {type(value).__name__}{advice}")

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a Python function as Lua calls it, with pairs; it keeps no engine alive."""
        reference = weakref.ref(self)

        def call(*args: Any) -> Any:
            crossing: Any = reference()  # it lives while Lua runs
            try:
                if len(args) != 1 or type(args[0]) is bytes:
                    args = crossing._arguments_of_lua(args)
                if crossing._lua.is_closed:
                    raise LuaError(CLOSED)
                if crossing._output.stream is not None:
                    crossing._output.stream.drain()
                result = function(*args)
                if crossing._lua.is_closed:  # by the function
                    raise LuaError(CLOSED)
                if crossing._ctrl_c.ending is not None:  # Lua's hook may come much later
                    return _STOP
                kind = type(result)
                if kind is float or kind is int and _LEAST <= result <= EXACT:
                    return result
                return crossing._answer(result)
            except BaseException as error:
                return crossing._note(error)
            finally:
                output = crossing._output
                if output.flush is not None:  # of what the function may have printed
                    output.enter()
                elif sys.stdout is not output.seen:  # the function may have changed it
                    crossing._lua_calls.follow_output()

        # Ctrl-C is allowed by code object: see `guarded` in host/lua_calls.py.
        call.__code__ = call.__code__.replace(co_name="called_by_lua")
        return mark_interruptible(call)

    def _arguments_of_lua(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a Python function, from what engine/values.lua passes."""
        if len(args) < 2:
            return tuple(map(plain_string, args))
        return tuple(self.from_pairs(args[1:]))

    def _answer(self, result: Any) -> Any:
        """Return the result of a function as engine/values.lua takes it."""
        results = result if isinstance(result, tuple) else (result,)
        plain = plain_values(results) if len(results) == 1 else None
        if plain is not None:
            return b"\1" + plain[0] if type(plain[0]) is bytes else plain[0]
        lists: list[int] = []
        try:
            return (None, *self._to_all(results, lists)) if results else (None, False)
        finally:
            self._dropped.extend(lists)  # Lua has the values before it hears of that

    @uninterruptible
    def _note(self, error: BaseException) -> bytes:
        """Remember an exception; returns the bytes that make an error of Lua of it."""
        if not isinstance(error, Exception):  # such as KeyboardInterrupt: no pcall catches it
            self._ctrl_c.press(error)
            return _STOP
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, LuaError):
            text = error.message
        self._raised.append((text, error))
        self._dropped.append(0)  # the next call forgets both
        return b"\0" + to_bytes(text)


def _steps(iterator: Iterator[Any]) -> Callable[[], Any]:
    """Return a function that returns an iterator's values in turn, then None."""

    def step(*_: Any) -> Any:
        for value in iterator:
            first = (value or (None,))[0] if isinstance(value, tuple) else value
            if first is None:
                raise ValueError("an iterator has None, at which a loop of Lua ends")
            return value
        return None

    return step


#: The most frequent types first; the check for Mapping takes long.
CONTAINERS = (list, tuple, dict, TorchObject, Mapping)

_PLAIN = {int, float, bool, str, bytes, type(None)}
_MANY = 8  # values: fewer are looked at one by one, which takes half the time then
_AT_A_TIME = 1000  # values: Lua's stack has room for some thousands


def plain_values(values: Sequence[Any]) -> Sequence[Any] | None:
    """Return values as they cross, if Lua can have each as it is; otherwise None."""
    if len(values) < _MANY:
        return _few_plain_values(values)
    kinds = set(map(type, values))
    if not kinds <= _PLAIN:
        return None
    if int in kinds:
        whole = values if len(kinds) == 1 else [v for v in values if type(v) is int]
        if min(whole) < -EXACT or max(whole) > EXACT:
            return None
    if str in kinds:
        return [to_bytes(value) if type(value) is str else value for value in values]
    return values


def _few_plain_values(values: Sequence[Any]) -> list[Any] | None:
    plain = []
    for value in values:
        kind = type(value)
        if kind is str:
            value = to_bytes(value)
        elif kind not in _PLAIN or kind is int and not -EXACT <= value <= EXACT:
            return None
        plain.append(value)
    return plain


def flattened(
    values: Sequence[Any], to_pair: Callable[[Any], tuple[Any, Any]]
) -> list[tuple[Any, ...]]:
    """Some values, and all that containers among them hold, as `build` reads them, in parts.

    to_pair: makes the pair of a value that is no container.
    """
    flat: list[Any] = []
    places: dict[int, int] = {}
    waiting: list[Any] = [values]

    def pair(value: Any) -> tuple[Any, Any]:
        if not isinstance(value, CONTAINERS):
            return to_pair(value)
        place = places.get(id(value))
        if place is None:
            waiting.append(value)
            place = places[id(value)] = len(waiting)
        if isinstance(value, TorchObject):
            return place, b"table " + to_bytes(value.torch_typename)
        return place, b"table"

    def add(items: Sequence[Any]) -> None:
        plain = plain_values(items)
        flat.append(plain is not None)
        if plain is None:
            plain = [part for item in items for part in pair(item)]
        flat.extend(plain)

    for container in waiting:  # which grows meanwhile
        if isinstance(container, TorchObject):
            container = container.fields
        entries = {} if isinstance(container, (list, tuple)) else container
        flat.append(0 if container is entries else len(container))
        add(() if container is entries else container)
        flat.append(len(entries))
        if entries:
            add(list(entries.keys()))
            add(list(entries.values()))
    return [tuple(flat[i : i + _AT_A_TIME]) for i in range(0, len(flat), _AT_A_TIME)]
