"""The different elements of a tensor, and how many of each there are.

PyTorch's documentation: torch.unique, bincount, histc. A nan equals nothing.
"""

from __future__ import annotations

import math
from itertools import compress
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import float32
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import wrap_dim
from th_shell.torch.calls.schema import OUT, Number
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import FLOATS, WHOLE, check_types
from th_shell.torch.ops.creation import check_sizes, fill_number
from th_shell.torch.tensors.tensor import Tensor, wrap

# -- different elements


@op()
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in order, or the different slices of a dimension.

    return_inverse: also which of them each element is. return_counts: also how many there are.
    """
    array, axis = input.array, None
    if dim is not None:
        axis = wrap_dim(dim, array.ndim, takes_scalar=False)
        none = "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        require(array.size or not array.shape[axis], none)
    values, at, counts = np.unique(
        array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    places = at.reshape(array.shape if axis is None else -1)
    wanted = compress((values, places, counts), (True, return_inverse, return_counts))
    results = tuple(map(wrap, wanted))
    return results[0] if len(results) == 1 else results


# -- counts


@op()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each whole number from 0 on occurs, or the sums of their weights."""
    array = input.array
    check_types("bincount_cpu", WHOLE, array.dtype)
    require(minlength >= 0, "minlength should be >= 0")
    if array.ndim == 1 and not array.size:
        return wrap(np.zeros(minlength, np.int64))
    if array.ndim != 1 or array.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return wrap(np.bincount(array, None, minlength))
    if weights.array.shape != array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    sums = np.bincount(array, weights.array.astype(np.float64, copy=False), minlength)
    return wrap(sums.astype(np.float32) if weights.dtype is float32 else sums)


@op(more=OUT)
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Return the numbers of elements in bins of equal width, from min to max.

    Where both are the same number, the bins reach from the smallest to the largest element.
    """
    array = input.array
    require(bins > 0, "torch.histogram(): bins must be > 0, but got {} for dimension 0", bins)
    check_types("histogram_cpu", FLOATS, array.dtype)
    require(not max < min, "torch.histc: max must be larger than min")
    low, high = float(min), float(max)
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    for bound in (low, high):
        fill_number(bound, input.dtype)
    try:
        counts, _ = np.histogram(array.reshape(-1), check_sizes((bins,))[0], (low, high))
    except ValueError:
        raise RuntimeError(f"torch.histc: {bins} bins from {low:g} to {high:g} are empty") from None
    return wrap(counts.astype(array.dtype))
