"""Work on large arrays in parts: over threads, and in pieces that stay in the cache.

numpy lets other threads run while it computes. Parts are made of flat contiguous memory only;
the number of threads is what torch.setnumthreads says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from runtime.dtypes import Array

__all__ = ["LARGE", "get_threads", "in_parts", "set_threads"]

#: From this many elements on work is shared out, as in the reference.
LARGE = 100_000
#: Elements of a piece that is computed in several steps.
PIECE = 16_384

_threads = os.cpu_count() or 1
_pool: ThreadPoolExecutor | None = None


def get_threads() -> int:
    """How many threads large work is shared out to."""
    return _threads


def set_threads(count: int) -> None:
    """Share large work out to this many threads (at least one)."""
    global _threads, _pool
    count = max(count, 1)
    if count != _threads and _pool is not None:
        _pool.shutdown()
        _pool = None
    _threads = count


def in_parts(
    compute: Callable[[slice], None], count: int, *, piece: int = 0, large: int = LARGE
) -> None:
    """Call compute for slices that cover range(count), several at a time where that pays.

    piece: cut so that each slice has at most this many elements (0: no limit).
    """
    if count < large or _threads == 1:
        _pieces(compute, 0, count, piece)
        return
    bounds = [count * i // _threads for i in range(_threads + 1)]
    pool = _ensure_pool()
    waiting = [
        pool.submit(_pieces, compute, start, stop, piece)
        for start, stop in zip(bounds[1:-1], bounds[2:], strict=True)
    ]
    try:
        _pieces(compute, bounds[0], bounds[1], piece)
    finally:
        for part in waiting:
            part.result()


def _pieces(compute: Callable[[slice], None], start: int, stop: int, piece: int) -> None:
    if not piece:
        compute(slice(start, stop))
        return
    for at in range(start, stop, piece):
        compute(slice(at, min(at + piece, stop)))


def _ensure_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads - 1, thread_name_prefix="torch")
    return _pool


def flat_parts(arrays: Sequence[Array | float]) -> list[Array | float] | None:
    """The arrays as flat views of one length, or None where one is not contiguous."""
    flat: list[Array | float] = []
    for array in arrays:
        if isinstance(array, float | int):
            flat.append(array)
        elif array.flags.c_contiguous:
            flat.append(array.reshape(-1))
        else:
            return None
    return flat
