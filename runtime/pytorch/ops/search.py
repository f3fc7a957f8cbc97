"""Places in sorted elements, the different elements of a tensor, and which are among others.

PyTorch's documentation: torch.searchsorted, bucketize, unique, isin. A nan equals nothing.
"""

from __future__ import annotations

import math
from itertools import compress
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import bool_, float32, int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed, wrap_dim
from th_shell.torch.calls.schema import OUT, Number, Operand, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, FLOATS, NUMBERS, WHOLE, check_types
from th_shell.torch.compute.promotion import array_as, result_type
from th_shell.torch.compute.reductions import give, tidy
from th_shell.torch.ops.creation import check_sizes, fill_number
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import check_out

_WHO = "torch.searchsorted(): "


def _places(boundaries: Array, values: Array, right: bool, sorter: Array | None) -> Array:
    """Return where values would be put in the last dimension of sorted boundaries.

    right: behind equal ones. sorter: the positions that sort the boundaries.
    """
    side: Any = "right" if right else "left"
    if boundaries.ndim == 1:
        return boundaries.searchsorted(values, side, sorter)
    places = np.zeros(values.shape, np.int64)
    for row in np.ndindex(boundaries.shape[:-1]):
        order = None if sorter is None else sorter[row]
        places[row] = boundaries[row].searchsorted(values[row], side, order)
    return places


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
    """Return the position of each value in sorted elements: before it all are smaller.

    right, or side='right': behind equal ones. sorter: the positions that sort the elements.
    """
    array = sorted_sequence.array
    shape = input.array if isinstance(input, Tensor) else np.zeros(())
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
    common = result_type(sorted_sequence, input)
    rows, values = (np.asarray(array_as(x, common)) for x in (sorted_sequence, input))
    check_types("searchsorted_out_cpu", NUMBERS, rows.dtype)
    order = None if sorter is None else sorter.array
    places = np.asarray(_places(rows, values, right or side == "right", order))
    return give(places.astype(kind, copy=False), out)


@op(f"bucketize(Number self, Tensor boundaries, *, {_SIDES})", method=False)
@op(more=f"{_SIDES}, {OUT}", method=False)
def bucketize(input: Operand, boundaries: Tensor, **options: Any) -> Tensor:
    """Return the number of the bucket of each value, by the buckets' boundaries.

    right: a value that is a boundary is in the bucket behind it.
    """
    if boundaries.array.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})"
        )
    return searchsorted(boundaries, input, **options)


# -- different elements


#: The different elements, which of them each element is, and how many of each there are.
_Found = tuple[Array, Array, Array]


def _runs(differs: Array, order: Array | None) -> tuple[Array, Array, Array]:
    """Return the starts of runs of equal elements, the run of each element, and the runs' lengths.

    differs: for all elements but the first whether they begin a run. order: the positions of these
    elements before they were sorted.
    """
    begins = np.empty(len(differs) + 1, np.bool_)
    begins[0] = True
    begins[1:] = differs
    first = np.flatnonzero(begins)
    inverse = np.empty(len(begins), np.int64)
    inverse[slice(None) if order is None else order] = np.cumsum(begins) - 1
    return first, inverse, np.diff(first, append=len(begins))


def _of_elements(flat: Array, sort: bool) -> _Found:
    if not flat.size:
        return flat.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    order = flat.argsort(kind="stable") if sort else None
    row = flat if order is None else flat[order]
    first, inverse, counts = _runs(row[1:] != row[:-1], order)
    return row[first], inverse, counts


def _of_slices(array: Array, axis: int, sort: bool) -> _Found:
    """Return the different slices of a dimension, which are compared element by element."""
    n = array.shape[axis]
    if not n:
        return array.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.ascontiguousarray(np.moveaxis(array, axis, 0)).reshape(n, -1)
    order = np.lexsort(rows.T[::-1]) if sort and rows.shape[1] else None
    ordered = rows if order is None else rows[order]
    first, inverse, counts = _runs((ordered[1:] != ordered[:-1]).any(1), order)
    values = ordered[first].reshape(-1, *np.delete(array.shape, axis))
    return np.moveaxis(values, 0, axis), inverse, counts


def _axis(array: Array, dim: int) -> int:
    axis = wrap_dim(dim, array.ndim, takes_scalar=False)
    if 0 in array.shape and array.shape[axis]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return axis


def _result(input: Tensor, dim: int | None, sort: bool, inverse: bool, counts: bool) -> Any:
    array = input.array
    if dim is not None:
        parts = _of_slices(array, _axis(array, dim), sort)
    else:
        values, at, count = _of_elements(array.reshape(-1), sort)
        parts = values, at.reshape(array.shape), count
    results = tuple(map(wrap, compress(parts, (True, inverse, counts))))
    return results[0] if len(results) == 1 else results


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
    return _result(input, dim, True, return_inverse, return_counts)


@op()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements, or slices of a dimension, that differ from the one before them."""
    return _result(input, dim, False, return_inverse, return_counts)


# -- membership


_MEMBERSHIP = f"bool assume_unique = False, bool invert = False, {OUT}"


@op(f"isin(Tensor elements, Number test_element, *, {_MEMBERSHIP})", method=False)
@op(f"isin(Number element, Tensor test_elements, *, {_MEMBERSHIP})", method=False)
@op(more=_MEMBERSHIP, method=False)
def isin(elements: Operand, test_elements: Operand, **options: Any) -> Tensor:
    """Tell whether each element is among others; invert: whether it is not."""
    kind = result_type(elements, test_elements)
    for operand in (elements, test_elements):
        if isinstance(operand, Tensor) and operand.dtype is bool_:
            raise NotImplementedError("Unsupported input type encountered for isin(): Bool")
    check_out(options.get("out"), bool_)
    a, b = (np.asarray(array_as(x, kind)) for x in (elements, test_elements))
    check_types("isin_default_cpu", ALL, a.dtype)
    is_member = np.isin(a, b)
    return give(tidy(~is_member if options.get("invert") else is_member), options.get("out"))


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
