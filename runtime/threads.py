"""Work on large arrays in parts: over threads, and in pieces that stay in the cache.

numpy lets other threads run while it computes. Parts are made of flat contiguous memory only;
the number of threads is what torch.setnumthreads says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from runtime.dtypes import Array

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


def _prepare_thread() -> None:
    np.seterr(all="ignore")  # as the engine does for its own thread


def _ensure_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads - 1, "torch", _prepare_thread)
    return _pool


def flatten(arrays: Sequence[Array | float]) -> list[Array | float] | None:
    """Arrays of one shape as flat views that run through memory together; numbers stay.

    None where they do not lie in memory in the same order without gaps.
    """
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
