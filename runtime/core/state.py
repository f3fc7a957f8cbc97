"""The state of an engine: what belongs to it, and to no other engine of the process.

Each layer defines parts of it as classes: memory, threads, a random stream. A thread works for one
engine at a time, the one whose Lua code it runs, and finds that engine's parts with `current`. What
outlives a call, as a storage does, keeps the part that it will need.

While an engine runs, numbers behave as in C: infinities and nans, and integers that wrap. numpy
warns of these unless it is told not to, for a thread and for a time. It may be loaded in the middle
of that time, since the runtime loads it when a program needs it first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Part:
    """A part of an engine's state that has something to give back when the engine is closed."""

    def close(self) -> None:
        """Give back what the part holds; it is not used afterwards."""


class State:
    """Parts of state by their classes. A part is made, without arguments, at its first use."""

    def __init__(self) -> None:
        self.parts: dict[type[Any], Any] = {}
        #: Called before the first operation of a call of Lua: see `settle`.
        self.late: Callable[[], None] | None = None
        self._preparations: dict[str, Callable[[Any], object]] = {}

    def part(self, kind: type[T]) -> T:
        """Return the part of a class."""
        part: T | None = self.parts.get(kind)
        if part is None:
            part = self.parts[kind] = kind()
            self._preparations.pop(kind.__name__, id)(part)
        return part

    def prepare(self, name: str, do: Callable[[Any], object]) -> None:
        """Do something with the part whose class has a name: now, or once the part is made.

        So what the part needs, such as numpy, need not be loaded for that.
        """
        parts = (part for kind, part in self.parts.items() if kind.__name__ == name)
        part = next(parts, None)
        if part is None:
            self._preparations[name] = do
        else:
            do(part)

    def active(self) -> AbstractContextManager[None]:
        """Make this the state that `current` looks in, in this thread and within the block."""
        return _Active(self)

    def close(self) -> None:
        """Close all parts and forget them."""
        parts, self.parts = self.parts, {}
        for part in parts.values():
            if isinstance(part, Part):
                part.close()


class _Active:
    """A block within which a state is the thread's; one of contextlib's takes twice the time."""

    __slots__ = ("_before", "_place", "_state")

    def __init__(self, state: State) -> None:
        self._state = state

    def __enter__(self) -> None:
        self._place = place = this_thread()
        self._before, place.state = place.state, self._state

    def __exit__(self, *_: object) -> None:
        self._place.state = self._before


class Place:
    """The engine that a thread works for.

    state: the engine's `State`, which `State.active` and calls of Lua set. None until the thread
    looks for a part outside of every engine. ending: what has stopped Lua in the last call that a
    program has made in the thread, if anything has.
    """

    __slots__ = ("ending", "state")

    def __init__(self) -> None:
        self.state: State | None = None
        self.ending: BaseException | None = None


class _Thread(threading.local):
    #: Nothing is made here: while this object is set up in a thread, Python's collector may close
    #: an engine, which is active then.
    place: Place | None = None


#: To be read seldom: a field of a threading.local takes long to find.
THREAD = _Thread()

#: Not empty once a Python program has made an engine: then operations begin by `settle`.
GUESTS: list[bool] = []


def this_thread() -> Place:
    """Return the `Place` of this thread."""
    place = THREAD.place
    if place is None:
        place = THREAD.place = Place()
    return place


def settle() -> None:
    """Call `State.late` of this thread's engine, once: an operation in Python begins."""
    state = this_thread().state
    if state is not None and state.late is not None:
        late, state.late = state.late, None
        late()


def current(kind: type[T]) -> T:
    """Return the part of a class, of the engine that this thread works for."""
    place = THREAD.place or this_thread()
    state = place.state
    if state is None:  # no engine runs this code
        state = place.state = State()
    part: T | None = state.parts.get(kind)  # at once: each new storage asks
    return state.part(kind) if part is None else part


class _Arithmetic(threading.local):
    #: Ends with the outermost block of `as_in_c` of the thread that began before numpy was there.
    waiting: ExitStack | None = None


_arithmetic = _Arithmetic()
_has_numpy = False


@contextmanager
def as_in_c() -> Iterator[None]:
    """Let numpy compute as C does in this thread, within the block."""
    if _has_numpy:
        import numpy as np

        with np.errstate(all="ignore"):
            yield
    elif _arithmetic.waiting is not None:
        yield
    else:
        with ExitStack() as _arithmetic.waiting:
            try:
                yield
            finally:
                _arithmetic.waiting = None


def numpy_has_come() -> None:
    """Tell blocks of this thread that numpy is loaded; to be called before it is used in them."""
    global _has_numpy
    import numpy as np

    _has_numpy = True
    waiting, _arithmetic.waiting = _arithmetic.waiting, None
    if waiting is not None:
        waiting.enter_context(np.errstate(all="ignore"))
