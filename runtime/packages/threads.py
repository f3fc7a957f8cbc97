"""Objects that threads of the package `threads` share: queues, locks, and storages in messages.

Each thread has an engine of its own in this process (``runtime/engine/workers.py``). What several
of them use is known by a number: programs pass it as text from one to another. A message is the
bytes of serialized objects and the storages that these refer to, which stay the same memory.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, TypeVar

from th_shell.runtime.calls.results import class_id
from th_shell.runtime.core.dtypes import LONG, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.system import wait_until
from th_shell.runtime.core.tensor import Tensor

T = TypeVar("T")
Message = tuple[bytes, float, bytes, list[Any]]  # text, the job's number, kind, storages

#: The message for threads that still wait for one when their queue ends.
_STOP: Message = (b"", 0, b"stop", [])

_numbers = itertools.count(1)
_queues: dict[int, Queue[Message]] = {}
_locks: dict[int, threading.Lock] = {}
_conditions: dict[int, _Condition] = {}
_counters: dict[int, int] = {}
_counting = threading.Lock()


class _Condition:
    """Threads that wait to be told to go on, each with a lock that it leaves meanwhile."""

    def __init__(self) -> None:
        self.waiting: deque[threading.Event] = deque()

    def wait(self, lock: threading.Lock) -> None:
        event = threading.Event()
        self.waiting.append(event)
        lock.release()
        try:
            wait_until(event.wait)
        finally:
            with suppress(ValueError):  # of a wait that was ended
                self.waiting.remove(event)
            lock.acquire()

    def signal(self) -> None:
        if self.waiting:
            self.waiting.popleft().set()


class _Exchange(threading.local):
    """The storages in the message that a thread writes, and in the message that it reads."""

    def __init__(self) -> None:
        self.written: list[Any] = []
        self.read: list[Any] = []


_exchange = _Exchange()


def _new(table: dict[int, T], value: T) -> int:
    number = next(_numbers)
    table[number] = value
    return number


def _find(table: dict[int, T], number: Any, what: str) -> T:
    item = table.get(number)
    if item is None:
        raise TorchError(f"no {what} has the number {number:.0f}")
    return item


def share(value: Tensor | Storage) -> int:
    """Let the next message refer to a tensor or storage; its number in the message."""
    view = value.alias() if isinstance(value, Tensor) else value
    storage = view.storage if isinstance(view, Tensor) else view
    if storage is not None:
        storage.share_with_threads()
    _exchange.written.append(view)
    return len(_exchange.written) - 1


def forget() -> None:
    """Let the next message refer to nothing yet."""
    _exchange.written.clear()


def shared(number: float) -> Any:
    """Return the storage of a number in the message that was read last."""
    value = _exchange.read[int(number)]
    value = value.alias() if isinstance(value, Tensor) else value
    return value, class_id(type(value))


def new_queue() -> int:
    """Return the number of a new queue."""
    return _new(_queues, Queue())


def waiting(number: float) -> int:
    """Return how many messages a queue has."""
    return _find(_queues, number, "queue").qsize()


def put(number: float, text: bytes, job: float, kind: bytes) -> None:
    """Put a message into a queue; where that is no more, nobody waits for it."""
    shared, _exchange.written = _exchange.written, []
    queue = _queues.get(int(number))
    if queue:
        queue.put((text, job, kind, shared))


def get(number: float, seconds: float = math.inf) -> tuple[bytes, float, bytes] | None:
    """Return the next message of a queue; None where there is none within some seconds."""
    queue, messages, end = _queues.get(int(number)), list[Message](), time.monotonic() + seconds

    def is_over(most: float) -> bool:
        with suppress(Empty):
            messages.append(queue.get(timeout=most) if queue else _STOP)
        return bool(messages) or time.monotonic() >= end

    wait_until(is_over)
    if not messages:
        return None
    text, job, kind, _exchange.read = messages[0]
    return text, job, kind


def free_queue(number: float, readers: float) -> None:
    """Forget a queue with its messages; so many threads that may wait for one are told."""
    queue = _queues.pop(int(number))
    with queue.mutex:
        queue.queue.clear()
    for _ in range(int(readers)):
        queue.put(_STOP)


def new_mutex() -> int:
    """Return the number of a new mutex."""
    return _new(_locks, threading.Lock())


def lock(number: float) -> None:
    """Lock a mutex, once no other thread has it."""
    mutex = _find(_locks, number, "mutex")
    wait_until(lambda most: mutex.acquire(timeout=most))


def unlock(number: float) -> None:
    """Unlock a mutex, if it is locked."""
    mutex = _find(_locks, number, "mutex")
    if mutex.locked():
        mutex.release()


def free_mutex(number: float) -> None:
    """Forget a mutex."""
    _locks.pop(int(number), None)


def new_condition() -> int:
    """Return the number of a new condition."""
    return _new(_conditions, _Condition())


def wait(number: float, mutex: float) -> None:
    """Wait for a signal of a condition; meanwhile the mutex is unlocked."""
    _find(_conditions, number, "condition").wait(_find(_locks, mutex, "mutex"))


def signal(number: float) -> None:
    """Let one thread that waits for a condition go on."""
    _find(_conditions, number, "condition").signal()


def free_condition(number: float) -> None:
    """Forget a condition."""
    _conditions.pop(int(number), None)


def new_counter() -> int:
    """Return the number of a new counter, whose value is 0."""
    return _new(_counters, 0)


def count(number: float, compute: Callable[[int], int] = int) -> int:
    """Return the value of a counter, and set it to what a function computes from it."""
    with _counting:
        value = _find(_counters, number, "counter")
        _counters[int(number)] = compute(value)
    return value


def increase(number: float) -> int:
    """Return the value of a counter, which becomes one more."""
    return count(number, lambda value: value + 1)


def set_counter(number: float, value: float) -> None:
    """Set the value of a counter."""
    count(number, lambda _: int(cast_scalar(value, LONG)))
