"""Counts of numbers, and histograms. PyTorch's documentation: torch.bincount, histc, histogram."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed
from th_shell.torch.calls.kinds import KINDS, converted
from th_shell.torch.calls.schema import OUT, OUTS, Number
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import (
    FLOATS,
    NOT_BOOL,
    WHOLE,
    WIDE_FLOATS,
    check_types,
)
from th_shell.torch.compute.sums import pair
from th_shell.torch.ops.creation import check_sizes, fill_number
from th_shell.torch.tensors.tensor import Tensor, wrap

_FLOAT32 = np.dtype(np.float32)


KINDS["tuple of floats"] = converted(tuple, tuple, list)


# -- counts


@op()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number from 0 on occurs, or the sums of the occurrences' weights."""
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
    return wrap(sums.astype(_FLOAT32) if weights.array.dtype == _FLOAT32 else sums)


# -- histograms


def _linspace(first: float, last: float, bins: int, kind: np.dtype[Any]) -> Array:
    """Edges of bins, computed from the nearer end, as PyTorch does."""
    wide = np.promote_types(kind, np.float32)
    a, b = kind.type(first).astype(wide), kind.type(last).astype(wide)
    step = (b - a) / wide.type(bins)
    at = np.arange(bins + 1)
    edges: Array = np.where(at < (bins + 1) // 2, a + step * at, b - step * (bins - at))
    return edges.astype(kind, copy=False)


def _bounds(name: str, array: Array, low: float, high: float) -> tuple[float, float]:
    """The outermost edges: the smallest and the largest elements, where none are given."""
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if low == high and not array.size and low == 0:
        low, high = 0.0, 1.0
    return _apart(name, low, high)


def _apart(name: str, low: float, high: float) -> tuple[float, float]:
    """Edges that are apart. Raises RuntimeError for infinite ones."""
    if not (isfinite(low) and isfinite(high)):
        where = "torch.histc: range of" if name == "histc" else f"{name}: dimension 0's range"
        shown = [f"{x:g}".replace("nan", "-nan" if name == "histc" else "nan") for x in (low, high)]
        raise RuntimeError(f"{where} [{', '.join(shown)}] is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _check_bins(bins: int) -> None:
    require(bins > 0, "torch.histogram(): bins must be > 0, but got {} for dimension 0", bins)
    check_sizes((bins,))


_OTHER_TYPES = tuple(
    f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got "
    f"input {{0.real}} and {name} {{1.real}}{place}"
    for name, place in (("hist", ""), ("bin_edges", " for dimension 0"))
)


@op(more=OUT, other_type=_OTHER_TYPES[:1])
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """How many elements are in each of some bins of equal width, from min to max."""
    array = input.array
    _check_bins(bins)
    check_types("linspace_cpu", NOT_BOOL, array.dtype)
    require(not max < min, "torch.histc: max must be larger than min")
    low, high = _bounds("histc", array, float(min), float(max))
    for bound in (low, high):
        fill_number(bound, input.dtype)
    check_types("histogram_cpu", FLOATS, array.dtype)
    edges = _linspace(low, high, bins, array.dtype)
    inside = array[(array >= edges[0]) & (array <= edges[-1])]
    kind = array.dtype.type
    at = ((inside - edges[0]) * kind(bins) / (edges[-1] - edges[0])).astype(np.int64)
    counts = np.bincount(np.minimum(at, bins - 1), minlength=bins)
    return wrap(counts.astype(array.dtype))


_HISTOGRAM = f"Tensor weight = None, bool density = False, {OUTS})"


@op(
    f"histogram(Tensor input, Tensor bins, *, {_HISTOGRAM}",
    f"histogram(Tensor input, int bins = 100, *, tuple of floats range = None, {_HISTOGRAM}",
    other_type=_OTHER_TYPES,
)
def histogram(
    input: Tensor, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements are in each of some bins, and the bins' edges.

    bins: their edges, or how many there are of equal width. range: the first and the last edge.
    weight: what each element counts. density: the counts are divided by their sum and the widths.
    """
    is_given = isinstance(bins, Tensor)
    edges = _given_edges(input, bins) if is_given else _edges(input.array, bins, range)
    return _histogram(input, edges, weight, density)


def _given_edges(input: Tensor, bins: Tensor) -> Array:
    edges = bins.array
    if edges.ndim != 1:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have one dimension, but got "
            f"{edges.ndim} dimensions in the bins tensor for dimension 0"
        )
    if bins.dtype is not input.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got "
            f"input with dtype {input.dtype.real} and bins for dimension 0 with dtype "
            f"{bins.dtype.real}"
        )
    check_types("histogram_cpu", FLOATS, input.array.dtype)
    return edges.copy()


def _edges(array: Array, bins: int, range: Any) -> Array:
    """The edges of bins of equal width, from one end of a range to the other."""
    _check_bins(bins)
    low = high = 0.0
    if range is not None:
        if len(range) != 2:
            raise RuntimeError(
                "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, "
                f"but got {len(range)}"
            )
        low, high = map(float, range)
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                "for dimension 0"
            )
        low, high = _apart("torch.histogramdd", low, high)
        check_types("linspace_cpu", NOT_BOOL, array.dtype)
    else:
        if array.size:
            check_types("histogramdd", WIDE_FLOATS, array.dtype)
        low, high = _bounds("torch.histogramdd", array, low, high)
    check_types("histogram_cpu", FLOATS, array.dtype)
    return _linspace(low, high, bins, array.dtype)


def _check_weight(input: Tensor, weight: Tensor | None) -> None:
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
                f"should have the same dtype, but got input({input.dtype.real}), and "
                f"weight({weight.dtype.real})"
            )
        if weight.array.shape != input.array.shape:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as "
                "the input tensor excluding its innermost dimension, but got input with shape "
                f"[{input.array.size}, 1] and weight with shape {listed(weight.array.shape)}"
            )


def _histogram(input: Tensor, edges: Array, weight: Any, density: bool) -> Any:
    if len(edges) < 2:
        what = "torch.histogram(): bins must be > 0, but got 0 for dimension 0"
        least = "bins tensor should have at least 1 element, but got 0 elements in the bins tensor"
        raise RuntimeError(what if len(edges) else f"torch.histogramdd: {least} for dimension 0")
    _check_weight(input, weight)
    array = input.array.reshape(-1)
    bins = len(edges) - 1
    kept = (array >= edges[0]) & (array <= edges[-1])
    at = np.minimum(edges.searchsorted(array[kept], "right") - 1, bins - 1)
    weights = None if weight is None else weight.array.reshape(-1)[kept].astype(np.float64)
    counts = np.bincount(at, weights, bins).astype(array.dtype)
    if density:
        with np.errstate(all="ignore"):
            counts = counts / counts.sum() / np.diff(edges)
    return pair("histogram", counts, edges)
