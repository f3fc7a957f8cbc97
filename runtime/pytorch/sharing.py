"""Large arrays: their memory is used again, and their work is shared out to threads.

Work is cut by sizes and by `torch.set_num_threads` alone, so results have the same bits each time.
numpy lets other threads run while it computes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.memory import storage_type
from runtime.pytorch.quiet import quietly
from runtime.pytorch.shapes import Shape
from runtime.pytorch.tensor import Tensor, wrap

__all__ = ["SHARED", "compute_into", "compute_shared", "empty_tensor", "share", "threads"]

#: From this many elements on work is shared out; a thread gets half as many at least.
SHARED = 1 << 16
#: From this many bytes on memory is kept when a tensor dies, since new pages cost more.
_KEPT = 1 << 20
#: Elements of a piece that is computed in several steps.
_PIECE = 1 << 14


class _Threads:
    """How many threads operations use, and the ones that help the calling one."""

    def __init__(self) -> None:
        allowed = getattr(os, "sched_getaffinity", None)
        self.count = len(allowed(0)) if allowed else os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._pool = None  # its threads are the parent's

    def set(self, count: int) -> None:
        """Set how many threads there are from now on."""
        self.count = count
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def pool(self) -> ThreadPoolExecutor:
        """The threads besides the calling one."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max(self.count - 1, 1), "torch")
        return self._pool


threads = _Threads()


def share(compute: Callable[[slice], Any], count: int, elements: int, pieces: int = 1) -> None:
    """Call compute for slices that make up ``range(count)``, in several threads.

    elements: how many are computed in all; few are computed by the calling thread alone. pieces:
    how many slices there are at least, so that what is computed between stays in the cache.
    """
    shares = min(threads.count, max(2 * elements // SHARED, 1), max(count, 1))

    def run(first: int, stop: int) -> None:
        steps = max(pieces // shares, 1)
        for step in range(steps):
            low = first + (stop - first) * step // steps
            high = first + (stop - first) * (step + 1) // steps
            if high > low:
                compute(slice(low, high))

    ends = [count * i // shares for i in range(shares + 1)]
    pairs = list(zip(ends, ends[1:], strict=False))
    waiting = [threads.pool().submit(run, *pair) for pair in pairs[1:]]
    try:
        run(*pairs[0])
    finally:
        for other in waiting:
            other.exception()  # waits: they write to memory that the caller has
    for other in waiting:
        other.result()


def empty_tensor(shape: Shape, kind: np.dtype[Any]) -> Tensor:
    """A contiguous tensor of undetermined elements; where it is large, of memory that was used."""
    count = prod(shape)
    if count * kind.itemsize < _KEPT:
        return wrap(np.empty(shape, kind))
    storage = storage_type(kind).new(count)
    tensor = wrap(storage.data.reshape(shape))
    tensor._storage, tensor._memory = storage, storage.data
    return tensor


def compute_shared(compute: Any, operands: list[Any], shape: Shape, kind: np.dtype[Any]) -> Tensor:
    """A new tensor of a function's values for operands that are broadcast to one shape.

    compute: numpy's ufunc, or a function of arrays. operands: arrays and numpy's numbers, all of
    the type that it computes in. kind: the type of the values.
    """
    tensor = empty_tensor(shape, kind)
    compute_into(compute, operands, tensor.array)
    return tensor


def compute_into(compute: Any, operands: list[Any], out: Array) -> None:
    """Write a function's values to an array, to whose shape the operands are broadcast.

    An operand may be the array itself, but not another view of its memory.
    """
    arrays = [np.asarray(x) for x in operands]
    if all(a.shape in (out.shape, ()) and a.flags.c_contiguous for a in (*arrays, out)):
        out = out.reshape(-1)
        arrays = [a.reshape(-1) if a.ndim else a for a in arrays]
    cut = [a.ndim == out.ndim and a.shape[0] > 1 for a in arrays]

    def part(at: slice) -> None:
        inputs = [a[at] if is_cut else a for a, is_cut in zip(arrays, cut, strict=True)]
        if compute.__class__ is np.ufunc:
            quietly.run(compute, *inputs, out=out[at])
        else:
            with np.errstate(all="ignore"):
                out[at] = compute(*inputs)

    pieces = 1 if compute.__class__ is np.ufunc else max(out.size // _PIECE, 1)
    share(part, len(out), out.size, pieces)
