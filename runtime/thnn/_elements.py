"""Elements that are chosen without jumps, and sums of terms, for functions of nn's backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.compute.pieces import PIECE
from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor

#: Gives the terms of a sum for pieces of tensors, or their sum.
Terms = Callable[..., Any]


def _bits(x: Array) -> Array:
    """Floats as whole numbers, which share their memory."""
    return x.view(np.int64 if x.itemsize == 8 else np.int32)


def keep(condition: Array, values: Array, out: Array) -> None:
    """out = values where a condition holds, 0 elsewhere.

    numpy's where takes several times as long where the condition changes often: it jumps, and a
    processor cannot foresee that. Bits times 0 or 1 give the same.
    """
    np.multiply(_bits(values), condition, out=_bits(out))


def choose(condition: Array, values: Any, others: Any, out: Array) -> None:
    """out = values where a condition holds, others elsewhere: arrays or numbers.

    The bits in which the two differ are kept where it holds (see `keep`).
    """
    a, b = (_bits(np.asarray(x, out.dtype)) for x in (values, others))
    np.bitwise_xor(np.multiply(np.bitwise_xor(a, b), condition), b, out=_bits(out))


def total(terms: Terms, *tensors: Tensor) -> float:
    """The sum of the terms, taken in float64; tensors have as many elements.

    Piece by piece, so that the terms stay in the processor's cache: those of many elements are
    shared out, and the sums of the pieces are added in their order.
    """
    flat = [t.flat for t in tensors]
    count = -(-len(flat[0]) // PIECE)
    sums = np.zeros(count)

    def piece(at: slice) -> None:
        for i in range(at.start, at.stop):
            part = slice(i * PIECE, (i + 1) * PIECE)
            sums[i] = terms(*[x[part] for x in flat]).sum(dtype=np.float64)

    share(piece, count, large=LARGE // PIECE)
    return float(sums.sum())
