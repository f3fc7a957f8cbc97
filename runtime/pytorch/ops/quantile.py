"""Quantiles. PyTorch's documentation: torch.quantile."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import float32, float64
from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Out
from runtime.pytorch.compute.reducing import OUT, give
from runtime.pytorch.tensors.tensor import Tensor, wrap

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
#: PyTorch: the largest number of elements along the dimension.
_MOST = 1 << 24


def _check(input: Tensor, q: Tensor, interpolation: str, out: Out) -> None:
    if not input.array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input.dtype not in (float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype is not input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _WAYS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if out is not None and out.dtype is not input.dtype:
        raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")


def _quantiles(rows: Array, q: Array, way: str, ignores_nan: bool) -> Array:
    """The quantiles of sorted rows, in a last dimension as long as q."""
    n = rows.shape[-1]
    unknown = np.isnan(rows)
    if ignores_nan:
        last = n - 1 - np.count_nonzero(unknown, axis=-1, keepdims=True)
        ranks = np.maximum(q * last.astype(q.dtype), 0)
    else:
        # Where there is a nan it is the last element, which the rank leads to then.
        ranks = np.where(
            unknown.any(-1, keepdims=True), q.dtype.type(n - 1), q * q.dtype.type(n - 1)
        )
    if way in ("lower", "higher", "nearest"):
        to_whole = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[way]
        return np.take_along_axis(rows, to_whole(ranks).astype(np.int64), -1)
    below = ranks.astype(np.int64)
    weights = np.full_like(ranks, 0.5) if way == "midpoint" else ranks - below.astype(q.dtype)
    a = np.take_along_axis(rows, below, -1)
    b = np.take_along_axis(rows, np.ceil(ranks).astype(np.int64), -1)
    with np.errstate(all="ignore"):
        found: Array = np.where(weights < 0.5, a + weights * (b - a), b - (b - a) * (1 - weights))
    return found


def _compute(
    input: Tensor,
    q: Tensor,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    out: Out,
    ignores_nan: bool,
) -> Tensor:
    array = input.array
    _check(input, q, interpolation, out)
    axis = None if dim is None else wrap_dim(dim, array.ndim)
    if not ((q.array >= 0) & (q.array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if axis is None or not array.ndim:
        rows = array.reshape(-1)
        shape: tuple[int, ...] = (1,) * array.ndim if keepdim else ()
    else:
        rows = np.moveaxis(array, axis, -1)
        shape = array.shape[:axis] + ((1,) if keepdim else ()) + array.shape[axis + 1 :]
    if rows.shape[-1] > _MOST:
        raise RuntimeError("quantile() input tensor is too large")
    found = _quantiles(np.sort(rows, -1), q.array.reshape(-1), interpolation, ignores_nan)
    found = np.ascontiguousarray(found).reshape((*shape, -1))
    return give(found[..., 0] if not q.array.ndim else np.moveaxis(found, -1, 0), out)


def _register(name: str, ignores_nan: bool) -> None:
    rest = f"int dim = None, bool keepdim = False, *, str interpolation = linear, {OUT})"
    rest = rest.replace("linear", '"linear"')

    @op(f"{name}(Tensor input, Tensor q, {rest}")
    def of_tensor(
        input: Tensor,
        q: Tensor,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
        out: Out = None,
    ) -> Tensor:
        return _compute(input, q, dim, keepdim, interpolation, out, ignores_nan)

    @op(f"{name}(Tensor input, float q, {rest}")
    def of_number(
        input: Tensor,
        q: float,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
        out: Out = None,
    ) -> Tensor:
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        at: Any = np.asarray(q, input.array.dtype)
        return _compute(input, wrap(at), dim, keepdim, interpolation, out, ignores_nan)

    for function in (of_tensor, of_number):
        more = " but nans" if ignores_nan else ""
        function.__doc__ = f"The q-th quantiles of all elements{more}, or along a dimension."


_register("quantile", False)
_register("nanquantile", True)
