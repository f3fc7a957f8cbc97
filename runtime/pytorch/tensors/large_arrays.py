"""Large arrays: their memory is used again, and their work is shared out to threads.

Work is cut by sizes and by `torch.set_num_threads` alone, so results have the same bits each time.
numpy lets other threads run while it computes. The threads are those that Lua's large operations
have (`compute/thread_pool.py`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.bulk import PIECE, clear, run_loop, shared_piece, take_rows
from th_shell.runtime.compute.thread_pool import LARGE, LuaFunctions, ThreadPool
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.state import State
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.shapes import Shape
from th_shell.torch.tensors.tensor import Tensor, storage_type, wrap
from th_shell.torch.tensors.writing import check_writable

#: From this many bytes on memory is kept when a tensor dies, since new pages cost more.
_KEPT = 1 << 20
#: More bytes may well be new ones each time.
_REUSED = 1 << 26
#: Elements that are copied at a time where all elements get one number.
_ROW = 1 << 12


class _Threads:
    """The threads of large operations: those of an engine's pool, but there is no engine."""

    def __init__(self) -> None:
        self._left: list[State] = []
        self._begin()

    def _begin(self) -> None:
        self._state = State()
        self.pool = self._state.part(ThreadPool)
        self._starting = threading.Lock()
        self._is_started = False

    def begin_after_fork(self) -> None:
        """Leave what the process had before: threads that are gone may have held its locks."""
        count = self.pool.count
        self._left.append(self._state)  # and may have been at work in its Lua states
        self._begin()
        self.pool.count = count

    def active(self) -> AbstractContextManager[None]:
        """Let jobs of `compute` that this thread posts be done by these threads."""
        if not self._is_started:
            self._start()
        return self._state.active()

    def _start(self) -> None:
        # Only here: programs of few elements do without.
        from th_shell.runtime.compute.luajit import worker_functions

        with self._starting:
            if not self._is_started:
                functions = worker_functions()
                self._state.part(LuaFunctions).call = lambda name, *args: functions[name](*args)
                self.pool.start(functions, worker_functions)
                self._is_started = True


threads = _Threads()
os.register_at_fork(after_in_child=threads.begin_after_fork)


def share(compute: Callable[[slice], Any], count: int, elements: int, piece: int = 0) -> None:
    """Call compute for slices that make up ``range(count)``, in several threads.

    elements: how many are computed in all; few are computed by the calling thread alone. piece:
    how many positions a slice has at most; 0 for no limit. compute must not share out itself.
    """
    pays = elements >= LARGE and threads.pool.count > 1 and count > 1
    with threads.active() if pays else nullcontext():
        thread_pool.share(compute, count, piece=piece, large=0 if pays else count + 1)


def empty_tensor(shape: Shape, kind: np.dtype[Any]) -> Tensor:
    """Return an uninitialized contiguous tensor; a large one gets memory that was used before."""
    count = prod(shape)
    if count * kind.itemsize < _KEPT:
        return wrap(np.empty(shape, kind))
    storage = storage_type(kind).new(count)
    tensor = wrap(storage.data.reshape(shape))
    tensor._storage, tensor._memory = storage, storage.data
    return tensor


def filled_tensor(shape: Shape, kind: np.dtype[Any], number: Any) -> Tensor:
    """Return a contiguous tensor whose elements are all one number of their type."""
    is_zero = number.__class__ is int and not number  # -0 is another number
    if is_zero and not _KEPT <= prod(shape) * kind.itemsize <= _REUSED:
        return wrap(np.zeros(shape, kind))  # the system's new pages are zeros
    tensor = empty_tensor(shape, kind)
    if is_zero:
        with threads.active():
            clear(tensor._array)
    elif tensor._array.size < LARGE:
        tensor._array.fill(number)
    else:
        flat, row = tensor._array.reshape(-1), np.full((1, _ROW), number, kind)
        rows = flat[: flat.size // _ROW * _ROW].reshape(-1, _ROW)
        flat[rows.size :].fill(number)
        with threads.active():
            take_rows(row, np.zeros(len(rows), np.int64), rows)
    return tensor


def compute_shared(compute: Any, operands: list[Any], shape: Shape, kind: np.dtype[Any]) -> Tensor:
    """Return a new tensor of a function's values for operands that are broadcast to one shape.

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
    check_writable(out)
    arrays = [np.asarray(x) for x in operands]
    if out.size >= LARGE and compute.__class__ is np.ufunc:
        with threads.active():
            if run_loop(compute, out, arrays):
                return
    if all([not a.ndim or (a.shape == out.shape and a.flags.c_contiguous) for a in (*arrays, out)]):
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

    if compute.__class__ is np.ufunc:
        share(part, len(out), out.size)
        return
    piece = shared_piece(out.size, threads.pool.count)
    rows = max((piece or PIECE) * len(out) // max(out.size, 1), 1)
    share(part, len(out), out.size if piece else 0, rows)
