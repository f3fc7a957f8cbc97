"""Large arrays: how their work is divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.quiet import calmly, quietly
from runtime.pytorch.shapes import Shape

__all__ = ["SHARED", "compute_in_pieces", "compute_shared"]

#: From this many elements on work is shared out.
SHARED = 1 << 16


#: So many elements at a time stay in the processor's cache.
_PIECE = 1 << 14


def compute_shared(compute: np.ufunc, arrays: Sequence[Any], out: Array | None = None) -> Any:
    """The values of a ufunc for arrays of a common type."""
    return quietly.run(compute, *arrays, out=out)


def compute_in_pieces(
    compute: Callable[..., Any], arrays: Sequence[Any], shape: Shape, kind: np.dtype[Any]
) -> Any:
    """The values of a function of several ufuncs, for arrays of one type.

    Large arrays are gone through in pieces where they lie in memory one element after the other.
    """
    count = max([x.size for x in arrays])
    if count < SHARED or not all(
        x.ndim == 0 or (x.shape == shape and x.flags.c_contiguous) for x in arrays
    ):
        return calmly(compute, *arrays)
    flat = [x if x.ndim == 0 else x.reshape(-1) for x in arrays]
    values = np.empty(count, kind)
    for at in range(0, count, _PIECE):
        piece = slice(at, at + _PIECE)
        values[piece] = calmly(compute, *[x if x.ndim == 0 else x[piece] for x in flat])
    return values.reshape(shape)
