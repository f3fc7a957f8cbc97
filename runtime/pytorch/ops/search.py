"""Places in sorted elements. PyTorch's documentation: torch.searchsorted, torch.bucketize."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import int64
from runtime.pytorch.base.shapes import listed
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Operand, Out
from runtime.pytorch.compute.promotion import array_as, result_type
from runtime.pytorch.compute.reducing import want_kernel
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import resize_to

_WHO = "torch.searchsorted(): "


def _places(boundaries: Array, values: Array, right: bool, sorter: Array | None) -> Array:
    """Where values would be put in the last dimension of boundaries, by bisection.

    right: behind equal ones. sorter: the positions that sort the boundaries.
    """
    if boundaries.ndim == 1 and sorter is None and _is_sorted(boundaries):
        return boundaries.searchsorted(values, "right" if right else "left")
    n = boundaries.shape[-1]
    if not n or not values.size:
        return np.zeros(values.shape, np.int64)
    rows = boundaries.reshape(-1, n)
    wanted = values.reshape(len(rows), -1)
    order = None if sorter is None else sorter.reshape(rows.shape)
    low, high = np.zeros(wanted.shape, np.int64), np.full(wanted.shape, n)
    while (low < high).any():
        middle = low + (high - low) // 2
        at = np.minimum(middle, n - 1)
        if order is not None:
            at = np.take_along_axis(order, at, -1)
        there = np.take_along_axis(rows, at, -1)
        # A nan is behind all numbers, and all numbers are behind it.
        goes_on = ~(there > wanted) if right else ~(there >= wanted)
        goes_on &= low < high
        low, high = np.where(goes_on, middle + 1, low), np.where(goes_on, high, middle)
    return low.reshape(values.shape)


def _is_sorted(row: Array) -> bool:
    return bool((row[1:] >= row[:-1]).all()) and bool(row.size == 0 or row[-1] == row[-1])


def _check_shapes(boundaries: Array, values: Array) -> None:
    if boundaries.ndim == 1:
        return
    if not values.ndim:
        raise RuntimeError(
            f"{_WHO}input value can be a scalar only when boundaries tensor dimension is 1, but we "
            f"got boundaries tensor dim({boundaries.ndim}) and input value's dim(0) numel(1)"
        )
    if not boundaries.ndim:
        raise RuntimeError(
            f"{_WHO}boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            f"{_WHO}boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{listed(boundaries.shape)} and input value tensor {listed(values.shape)}"
        )


def _check_sorter(boundaries: Array, sorter: Tensor | None) -> None:
    if sorter is None:
        return
    array = sorter.array
    if array.shape != boundaries.shape:
        raise RuntimeError(
            f"{_WHO}boundary and sorter must have the same size, but got boundary tensor "
            f"{listed(boundaries.shape)}and got sorter tensor {listed(array.shape)}"
        )
    if sorter.dtype is not int64:
        raise RuntimeError(
            f"{_WHO}sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar}"
        )
    if array.size and not 0 <= array.min() <= array.max() < array.shape[-1]:
        raise RuntimeError(f"{_WHO}sorter index out of range")


def _search(
    boundaries: Tensor,
    values: Any,
    right: bool,
    out_int32: bool,
    out: Out,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    array = boundaries.array
    shape = values.array if isinstance(values, Tensor) else np.zeros(())
    if side not in (None, "left", "right"):
        raise RuntimeError(f"{_WHO}side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{_WHO}side and right can't be set to opposites, got side of left while right was True"
        )
    _check_shapes(array, shape)
    kind = np.dtype(np.int32 if out_int32 else np.int64)
    if out is not None and out.array.dtype != kind:
        raise RuntimeError(
            f"{_WHO}output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
            f"depending on whether out_int32 flag is True, but we got output tensor's dtype "
            f"{out.dtype.scalar} and out_int32 flag is {out_int32}"
        )
    _check_sorter(array, sorter)
    common = result_type(boundaries, values)
    rows, wanted = (np.asarray(array_as(x, common)) for x in (boundaries, values))
    want_kernel("searchsorted_out_cpu", rows, "?HIL")
    order = None if sorter is None else sorter.array
    found = np.asarray(_places(rows, wanted, right or side == "right", order))
    found = found.astype(kind, copy=False)
    if out is None:
        return wrap(found)
    resize_to(out, found.shape)
    np.copyto(out.array, found)
    return out


_SIDES = "bool out_int32 = False, bool right = False"
_OPTIONS = f"{_SIDES}, str side = None, Tensor sorter = None, {OUT}"


@op(f"searchsorted(Tensor sorted_sequence, Number self, *, {_OPTIONS})", method=False)
@op(method=False)
def searchsorted(
    sorted_sequence: Tensor,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Out = None,
) -> Tensor:
    """Where each value would be put in sorted elements, so that they stay sorted.

    right, or side='right': behind equal ones. sorter: the positions that sort the elements.
    """
    return _search(sorted_sequence, input, right, out_int32, out, side, sorter)


@op(f"bucketize(Number self, Tensor boundaries, *, {_SIDES})", method=False)
@op(method=False)
def bucketize(
    input: Operand,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Out = None,
) -> Tensor:
    """The number of the bucket of each value, by the buckets' boundaries.

    right: a value that is a boundary is in the bucket behind it.
    """
    if boundaries.array.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})"
        )
    return _search(boundaries, input, right, out_int32, out)
