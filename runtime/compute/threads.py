"""Work on large arrays in parts: over threads, and in pieces that stay in the cache.

numpy lets other threads run while it computes. Parts are made of flat contiguous memory only;
the number of threads is what torch.setnumthreads says. What C functions can do without Python
goes by pool.py instead, whose threads are quicker to start.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import numpy as np

from runtime.compute.processors import OURS
from runtime.core.dtypes import Array

__all__ = [
    "LARGE",
    "PIECE",
    "blocks",
    "flatten",
    "get_threads",
    "in_parts",
    "pieces",
    "set_threads",
]

#: From this many elements on work is shared out, as in the reference.
LARGE = 100_000
#: Elements of a piece that is computed in several steps.
PIECE = 16_384
#: Elements of a part that bounds the memory of what cannot go piece by piece.
_BLOCK = 1 << 20

#: Slices a thread: more even out who came late, but each costs a turn with Python's lock.
_SHARES = 2

_threads = OURS
_workers: list[_Worker] = []


def get_threads() -> int:
    """How many threads large work is shared out to."""
    return _threads


def set_threads(count: int) -> None:
    """Share large work out to this many threads (at least one)."""
    global _threads
    _threads = max(count, 1)
    while len(_workers) >= _threads:
        _workers.pop().queue.put(None)


if hasattr(os, "register_at_fork"):  # a child has none of the threads, nor their work
    os.register_at_fork(after_in_child=_workers.clear)


class _Work:
    """Slices of a range, of which threads take the next until none is left.

    So a thread that the system lets wait delays nobody.
    """

    def __init__(self, compute: Callable[[slice], None], slices: Iterator[slice]) -> None:
        self.error: BaseException | None = None
        self._compute = compute
        self._slices = iter(list(slices))  # of a list: threads may share it

    def run(self) -> None:
        for at in self._slices:
            self._compute(at)

    def stop(self) -> None:
        """Leave nothing to take."""
        for _ in self._slices:
            pass


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="torch", daemon=True)
        self.queue: SimpleQueue[_Work | None] = SimpleQueue()
        self.busy = threading.Lock()  # while slices are taken
        self.start()

    def run(self) -> None:
        np.seterr(all="ignore")  # as the engine does for its own thread
        for work in iter(self.queue.get, None):
            with self.busy:
                try:
                    work.run()
                except BaseException as error:  # the thread that waits raises it
                    work.error = error
                    work.stop()


def in_parts(
    compute: Callable[[slice], None], count: int, *, piece: int = 0, large: int = LARGE
) -> None:
    """Call compute for slices that cover range(count), several at a time where that pays.

    piece: cut so that each slice has at most this many elements (0: no limit).
    """
    if count < large or _threads == 1:
        for at in _slices(count, piece or count):
            compute(at)
        return
    share = -(-count // (_SHARES * _threads))
    work = _Work(compute, _slices(count, min(piece or share, share)))
    with suppress(MemoryError, RuntimeError):  # the system has no more
        while len(_workers) < _threads - 1:
            _workers.append(_Worker())
    for worker in _workers:
        worker.queue.put(work)
    try:
        work.run()
    finally:
        work.stop()
        for worker in _workers:
            with worker.busy:
                pass
    if work.error is not None:
        raise work.error


def _slices(count: int, size: int) -> Iterator[slice]:
    for at in range(0, count, max(size, 1)):
        yield slice(at, min(at + size, count))


def flatten(arrays: Sequence[Array | float]) -> list[Array | float] | None:
    """Arrays of one shape as flat views that run through memory together; numbers stay.

    None where they do not lie in memory in the same order without gaps.
    """
    if all(a.flags.c_contiguous for a in arrays if isinstance(a, np.ndarray)):
        return [a.reshape(-1) if isinstance(a, np.ndarray) else a for a in arrays]
    first = next(a for a in arrays if isinstance(a, np.ndarray))
    axes = sorted(range(first.ndim), key=lambda axis: -first.strides[axis])
    flat: list[Array | float] = []
    for array in arrays:
        if isinstance(array, np.ndarray):
            array = array.transpose(axes)
            if not array.flags.c_contiguous:
                return None
            array = array.reshape(-1)
        flat.append(array)
    return flat


def pieces(array: Array) -> Iterator[Array]:
    """All elements of an array in one-dimensional pieces that stay in the cache.

    In whatever order is quick; not to be written to.
    """
    flat = flatten([array])
    if flat is not None:
        whole = flat[0]
        assert isinstance(whole, np.ndarray)
        for at in range(0, len(whole), PIECE):
            yield whole[at : at + PIECE]
        return
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    with np.nditer(array, flags, ["readonly"], buffersize=PIECE) as chunks:
        yield from chunks


def blocks(shape: Sequence[int], keep: int | None = None) -> Iterator[tuple[slice, ...]]:
    """Indices that cut an array into parts of a few PIECEs along its longest axis.

    keep: an axis that is not cut.
    """
    axes = [axis for axis in range(len(shape)) if axis != keep]
    whole = [slice(None)] * len(shape)
    if not axes:
        yield tuple(whole)
        return
    axis = max(axes, key=lambda a: shape[a])
    count = 1
    for size in shape:
        count *= size
    step = max(1, shape[axis] * _BLOCK // max(count, 1))
    for at in range(0, shape[axis], step):
        whole[axis] = slice(at, at + step)
        yield tuple(whole)
