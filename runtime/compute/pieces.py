"""Large arrays in pieces that stay in the processor's cache, and in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array

#: Elements of a piece that is computed in several steps.
PIECE = 16_384
#: Elements of a part that bounds the memory of what cannot go piece by piece.
_BLOCK = 1 << 20


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
