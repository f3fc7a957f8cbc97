"""The threads of an engine, and the one way to share work out to them.

A Python thread that waits sleeps, and to wake it takes about as long as what a large operation
takes. So each thread runs LuaJIT in a Lua state of its own (``lua/parallel/thread_pool.lua``),
without Python's lock: it looks out for work for a while after each job, and sleeps only then.
`run` shares out jobs that C functions and LuaJIT do over raw memory, `share` those that call
numpy, which lets other threads run while it computes.

Results depend on sizes and on torch.setnumthreads alone: work is cut the same way whichever
threads do it.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn
from weakref import WeakSet

from th_shell.runtime.core import machine
from th_shell.runtime.core.platform import allowed_processors, processor_seconds
from th_shell.runtime.core.state import Part, as_in_c, current

# -- the number of processors for this process, and of those that other processes leave free


_ALL = os.cpu_count() or 1


def _count(allowed: int, quota: float | None) -> int:
    """Return the number of processors that a process can keep busy within its quota of time."""
    return allowed if quota is None else min(allowed, math.ceil(quota))


#: How many processors this process may use.
PROCESSORS = _count(allowed_processors(), machine.quota())


def free_threads(count: int) -> int:
    """Return how many of `count` threads should work: at most one for each free processor.

    Only one where other processes do not leave that many free (more or less, and of late).
    """
    count = min(count, PROCESSORS)
    return count if _LOAD.busy_elsewhere() <= _ALL - count + 0.5 else 1


class _Load:
    """The number of processors that other processes have kept busy of late."""

    _INTERVAL = 0.1  # seconds; from one look to the next

    def __init__(self) -> None:
        self._busy = 0.0
        self._then, self._work, self._own = 0.0, 0.0, 0.0

    def busy_elsewhere(self) -> float:
        """The number of processors; 0 where the system does not tell."""
        now = time.monotonic()
        if now - self._then > self._INTERVAL:
            work, own_seconds = processor_seconds(), time.process_time()
            if self._then:
                other_seconds = (work - self._work) - (own_seconds - self._own)
                self._busy = max(other_seconds, 0.0) / (now - self._then)
            self._then, self._work, self._own = now, work, own_seconds
        return self._busy


_LOAD = _Load()


# -- threads


#: From this many elements on work is shared out, as in the reference.
LARGE = 100_000

#: The functions of lua/parallel/thread_pool.lua in one Lua state, by name.
Functions = Mapping[bytes, Any]
Compute = Callable[[slice], None]


class LuaFunctions:
    """call: calls one of the functions that engine/shell.lua hands over, by its name.

    The engine sets it.
    """

    def __init__(self) -> None:
        self.call: Callable[..., Any] = _fail


def _fail(name: bytes, *_: Any) -> NoReturn:
    raise RuntimeError(f"no engine runs that has the Lua function {name.decode()}")


def call_lua(name: bytes, *args: Any) -> Any:
    """Call a Lua function of the engine that this thread works for."""
    return current(LuaFunctions).call(name, *args)


class _Slices:
    """Work in Python that threads do slice by slice, and the first error in it."""

    def __init__(self, compute: Compute, largest: int) -> None:
        self._compute = compute
        self._largest = largest  # positions of a slice
        self.error: BaseException | None = None

    def do(self, first: float, last: float) -> bool:
        """Do the positions from first to before last; whether no slice has failed so far."""
        if self.error is not None:
            return False
        try:
            with as_in_c():  # numpy's setting is each thread's own
                for at in _slices(int(first), int(last), self._largest):
                    self._compute(at)
        except BaseException as error:  # the thread that waits raises it
            self.error = error
        return self.error is None


class ThreadPool(Part):
    """Threads that do shared jobs until the engine is closed.

    count: how many threads work is shared out to: what torch.setnumthreads says.
    """

    def __init__(self) -> None:
        self.count = PROCESSORS
        self._max_shares = 1
        self._max_threads = 1  # that the system lets us have
        self._address = 0
        self._functions: Functions = {}
        self._new_functions: Callable[[], Functions] | None = None
        self._threads: list[threading.Thread] = []
        self._gathering = threading.Lock()  # several threads of a program may need them at once
        self._slices: dict[int, _Slices] = {}
        self._parameters: dict[str, dict[str, int]] = {}  # of each job, and how many numbers
        _pools.add(self)

    def start(self, functions: Functions, new_functions: Callable[[], Functions]) -> None:
        """Set what the pool calls in the engine's state, and what makes a state for a thread."""
        self._functions, self._new_functions = functions, new_functions
        functions[b"hand_over"](self._do_slice)
        if functions[b"can_share"]():
            self._max_shares = self._max_threads = functions[b"MAX_THREADS"]
            self._address = functions[b"new_shared_job"]()

    def state(self) -> tuple[int, int, int]:
        """The address of the shared job, the shares that work is divided into, and the threads.

        As many shares as `count` says, whatever else the machine does: results depend on them.
        As many threads while that many processors are free, else one does all shares.
        """
        shares = min(self.count, self._max_shares)
        return self._address, shares, self._gather(free_threads(shares))

    def _gather(self, count: int) -> int:
        """Have so many threads, the calling one among them; returns how many there are."""
        count = min(count, self._max_threads)
        if len(self._threads) >= count - 1:
            return count
        with self._gathering:
            return self._start_threads(count)

    def _start_threads(self, count: int) -> int:
        while len(self._threads) < count - 1:
            assert self._new_functions is not None
            functions = self._new_functions()
            functions[b"prepare_shared_job"](self._address)
            args = (self._address, len(self._threads) + 1, self._do_slice)
            work = functions[b"work"]
            thread = threading.Thread(target=work, args=args, name="torch", daemon=True)
            try:
                thread.start()
            except (MemoryError, RuntimeError):  # the system has no more
                self._max_threads = len(self._threads) + 1
                return self._max_threads
            self._threads.append(thread)
        return count

    @property
    def can_share(self) -> bool:
        """Tell whether work is shared out at all: an engine runs, and has several threads."""
        return min(self.count, self._max_shares) > 1

    def parameters(self, job: str) -> dict[str, int]:
        """The names of a job's parameters in order, and how many numbers each is."""
        lengths = self._parameters.get(job)
        if lengths is None:
            lines = call_lua(b"parameters", job.encode()).decode().splitlines()
            lengths = {name: int(count) for name, count in map(str.split, lines)}
            self._parameters[job] = lengths
        return lengths

    def in_order(self, job: str, by_name: Mapping[str, Any]) -> list[Any]:
        """The numbers, or arrays, of a job's parameters in the order in which it takes them."""
        lengths = self.parameters(job)
        if by_name.keys() != lengths.keys():
            raise TypeError(f"job {job} takes {', '.join(lengths)}, not {', '.join(by_name)}")
        numbers: list[float] = []
        for name, count in lengths.items():
            value = by_name[name]
            values = value if value.__class__ in (list, tuple) else (value,)
            if len(values) != count:
                raise TypeError(f"job {job}: {name} is {count} numbers, not {len(values)}")
            numbers += values
        return numbers

    def share(self, compute: Compute, count: int, piece: int) -> None:
        """Let threads call compute for slices of at most ``piece`` (0: some) positions."""
        slices = _Slices(compute, piece or count)
        number = id(slices)
        self._slices[number] = slices
        try:
            call_lua(b"run", b"slices", *self.state(), count, 0, number)
        except Exception:
            if slices.error is None:
                raise
        finally:
            del self._slices[number]
        if slices.error is not None:
            raise slices.error

    def _do_slice(self, number: float, first: float, last: float) -> bool:
        """Return the function that threads call for the slices of `share`."""
        return self._slices[int(number)].do(first, last)

    def forget_threads(self) -> None:
        """Count the threads of this process anew: a fork has only the one that called it."""
        self._threads.clear()
        self._gathering = threading.Lock()

    def close(self) -> None:
        """End the threads."""
        if not self._address:
            return
        self._functions[b"stop"](self._address)
        for thread in self._threads:
            thread.join()
        self._functions[b"free_shared_job"](self._address)
        self._threads.clear()
        self._address, self._max_shares = 0, 1
        self._functions, self._new_functions = {}, None


_pools: WeakSet[ThreadPool] = WeakSet()


def _after_fork() -> None:
    for pool in _pools:
        pool.forget_threads()


os.register_at_fork(after_in_child=_after_fork)


def get_threads() -> int:
    """Return the number of threads that large work is shared out to."""
    return current(ThreadPool).count


def run(
    job: str,
    positions: int,
    *,
    at_a_time: int = 0,
    large: bool = True,
    **parameters: Any,
) -> None:
    """Do a job of lua/parallel/jobs.lua for a range of positions.

    at_a_time: how many positions a thread does, within its share; 0 for some part of it.
    large: whether to share it out.
    parameters: those of the job, by their names: numbers, arrays, of which it gets the addresses,
    or addresses of memory that the caller keeps alive. Raises TypeError where they are not the
    job's.
    """
    pool = current(ThreadPool)
    numbers = [x.ctypes.data if hasattr(x, "ctypes") else x for x in pool.in_order(job, parameters)]
    address, shares, threads = pool.state() if large else (0, 1, 1)
    call_lua(b"run", job.encode(), address, shares, threads, positions, at_a_time, *numbers)


def run_quickly(job: bytes, positions: int, *numbers: float) -> None:
    """Share out a job whose parameters are given as numbers in order, which are not checked."""
    call_lua(b"run", job, *current(ThreadPool).state(), positions, 0, *numbers)


def share(compute: Compute, count: int, *, piece: int = 0, large: int = LARGE) -> None:
    """Call compute for slices that cover range(count), by several threads where that pays.

    Errors that it raises come out of here, once no thread is at work any more.
    piece: cut so that each slice has at most this many positions; 0 for no limit.
    large: from how many positions on it pays.
    """
    pool = current(ThreadPool)
    if count >= large and pool.can_share:
        pool.share(compute, count, piece)
        return
    for at in _slices(0, count, piece or count):
        compute(at)


def _slices(first: int, last: int, largest: int) -> Iterator[slice]:
    for at in range(first, last, max(largest, 1)):
        yield slice(at, min(at + largest, last))
