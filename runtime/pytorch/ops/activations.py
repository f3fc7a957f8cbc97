"""What torch itself has of the functions for networks: those of elements, and distances of rows.

PyTorch's documentation: torch.nn.functional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.require import require
from th_shell.torch.calls.schema import Number, Out
from th_shell.torch.calls.table import FUNCTIONS, op
from th_shell.torch.compute.elementwise import (
    FLOATS,
    NUMBERS,
    WIDE_FLOATS,
    Pointwise,
    check_types,
)
from th_shell.torch.compute.formulas import EXACT
from th_shell.torch.ops.creation import check_factor
from th_shell.torch.ops.norms import vector_norm_of
from th_shell.torch.tensors.tensor import Tensor, wrap

_expm1: Callable[[Any], Any] = EXACT[np.expm1]


@op(method=False, in_place=True)
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Out = None) -> Tensor:
    """The elements above a threshold, and nans; value for the others."""

    check_types("threshold_cpu", NUMBERS, input.dtype.numpy)
    limit, other = (check_factor(x, input.dtype) for x in (threshold, value))
    compute = Pointwise(lambda a: np.where(a <= limit, other, a).astype(a.dtype), NUMBERS)
    return compute(input, None, out)


def _exponential(input: Tensor, alpha: float, scale: float) -> Tensor:
    """scale * a above 0, scale * alpha * (exp(a / alpha) - 1) below."""

    def compute(a: Any) -> Any:
        kind = a.dtype.type
        below = _expm1(a * kind(1 / alpha if scale == 1 else 1)) * kind(alpha * scale)
        return np.where(a <= 0, below, a * kind(scale))

    check_types("elu_cpu", FLOATS, input.dtype.numpy)
    check_factor(alpha, input.dtype)
    return Pointwise(compute, FLOATS)(input)


@op(method=False, in_place=True)
def selu(input: Tensor) -> Tensor:
    """Elements above 0, and exponentials below, scaled so that layers keep mean and variance."""
    return _exponential(input, 1.6732632423543772, 1.0507009873554805)


@op(method=False, in_place=True)
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Elements above 0, and ``alpha * (exp(x / alpha) - 1)`` below."""
    require(alpha != 0, "ZeroDivisionError: alpha cannot be 0 for CELU")
    return _exponential(input, float(alpha), 1.0)


@op()
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Elements above 0, and others times a weight: one for all, or one for each channel."""
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.scalar} and "
            f"{weight.dtype.scalar}"
        )
    sizes, ndim = input.sizes, len(weight.sizes)
    require(
        ndim <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}", ndim
    )
    count, channels = weight.array.size, sizes[1] if len(sizes) > 1 else 1
    if count not in (1, channels):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    places = (count, *(1,) * (len(sizes) - 2)) if len(sizes) > 1 else (1,) * len(sizes)
    compute = Pointwise(lambda a, w: np.where(a > 0, a, w * a), FLOATS, kernel="prelu_cpu")
    return compute(input, wrap(weight.array.reshape(places)))


@op(method=False)
def kl_div(
    input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False
) -> Tensor:
    """The divergence of two distributions, of which input is given by logarithms.

    reduction: 1 for the mean, 2 for the sum, others for neither. log_target: target is, too.
    """
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    call = FUNCTIONS
    if log_target:
        found: Tensor = call["mul"](call["exp"](target), call["sub"](target, input))
    else:
        found = call["sub"](call["xlogy"](target, target), call["mul"](target, input))
    reduce = {1: "mean", 2: "sum"}.get(reduction)
    return found if reduce is None else call[reduce](found)


@op(method=False)
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The norms of order p of the differences of rows, to whose elements eps is added."""
    apart = FUNCTIONS["add"](FUNCTIONS["sub"](x1, x2), eps)
    axis = max(len(x1.sizes), len(x2.sizes)) - 1
    return wrap(vector_norm_of(apart.array, p, (axis,) if axis >= 0 else None, keepdim))


@op(method=False)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The distances of order p of each row to all that come behind it, in one vector."""
    array = input.array
    require(array.ndim == 2, "pdist only supports 2D tensors, got: {}D", array.ndim)
    require(input.dtype.is_floating_point, "pdist only supports floating-point dtypes")
    require(p >= 0, "pdist only supports non-negative p values")
    check_types("pdist", WIDE_FLOATS, array.dtype)
    rows = len(array)
    if not array.shape[1]:
        return wrap(np.zeros(rows * (rows - 1) // 2, array.dtype))
    parts = [vector_norm_of(array[n + 1 :] - array[n], p, (1,), False) for n in range(rows - 1)]
    return wrap(np.concatenate(parts) if parts else np.empty(0, array.dtype))
