"""Criterions that go element by element: losses of an input and a target, and their gradients.

A loss is written to a tensor of one element. sizeAverage divides it, and the gradient, by the
number of elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor
from runtime.thnn._elements import Terms, choose, compute_each, keep, total
from runtime.thnn.checks import check_counts, check_size
from runtime.thnn.table import Call, thnn

_LOSS = "THTensor *input, THTensor *target, THTensor *output, bool sizeAverage"
_GRADIENT = "THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage"


def _loss(
    output: Tensor, average: bool, terms: Terms, input: Tensor, target: Tensor, *others: Tensor
) -> None:
    """output = the sum, or average, of the terms that a function gives for pieces of tensors."""
    check_counts(input=input, target=target)
    check_size("output", output, 1, 0, 1)
    _store(output, total(terms, input, target, *others), input.nelement if average else 1)


def _store(output: Tensor, loss: float, count: int) -> None:
    """output = loss / count; Torch7: a nan where there are no elements."""
    output.array[0] = loss / count if count else math.nan


def _norm(input: Tensor, average: bool, factor: float = 1) -> float:
    """What gradients are multiplied by, in the input's type."""
    count = max(input.nelement, 1)
    return input.dtype.numpy.type(factor / count if average else factor)  # type: ignore[no-any-return]


@thnn("MSECriterion_updateOutput", _LOSS, total="(input - target) * (input - target)")
def mse(call: Call) -> None:
    """output = the sum of (input - target)^2."""

    def terms(x: Array, y: Array) -> Any:
        difference = x - y
        return np.dot(difference, difference)

    _loss(call.output, call.sizeAverage, terms, call.input, call.target)


@thnn(
    "MSECriterion_updateGradInput",
    _GRADIENT,
    each="gradInput = 2 * NORM * (input - target)",
)
def mse_gradient(call: Call) -> None:
    """gradInput = 2 * (input - target)."""
    check_counts(input=call.input, target=call.target)
    factor = _norm(call.input, call.sizeAverage, 2)

    def compute(x: Array, y: Array, out: Array) -> None:
        np.multiply(np.subtract(x, y), factor, out=out)

    compute_each(call.gradInput, compute, call.input, call.target)


@thnn("AbsCriterion_updateOutput", _LOSS, total="abs(input - target)")
def absolute(call: Call) -> None:
    """output = the sum of |input - target|."""
    check_counts(input=call.input, target=call.target)
    if call.output.ndim != 1:
        raise ArgError(1, "tensor must have one dimension")

    def terms(x: Array, y: Array) -> Array:
        difference: Array = x - y
        return np.absolute(difference, out=difference)

    _store(
        call.output,
        total(terms, call.input, call.target),
        call.input.nelement if call.sizeAverage else 1,
    )


@thnn(
    "AbsCriterion_updateGradInput",
    _GRADIENT,
    each="gradInput = input - target >= 0 and NORM or -NORM",
)
def absolute_gradient(call: Call) -> None:
    """gradInput = 1 where input is the target or greater, -1 elsewhere."""
    check_counts(input=call.input, target=call.target)
    norm = _norm(call.input, call.sizeAverage)

    def compute(x: Array, y: Array, out: Array) -> None:
        choose(x - y >= 0, norm, -norm, out)

    compute_each(call.gradInput, compute, call.input, call.target)


_EPSILON = 1e-12  # keeps logarithms and divisors away from 0


@thnn(
    "BCECriterion_updateOutput",
    _LOSS + ", THTensor *weights?",
    total="min(input, 1 - input) >= 0 and"
    " -(log(input + 1e-12) * target + log(1 - input + 1e-12) * (1 - target)) or 0 / 0"
    " if not weights",
)
def bce(call: Call) -> None:
    """output = minus the sum of target * log(input) + (1 - target) * log(1 - input), weighted."""
    check_counts(input=call.input, target=call.target)
    check_counts(input=call.input, weights=call.weights)

    def terms(x: Array, y: Array, *weight: Array) -> Array:
        x = x.astype(np.float64, copy=False)
        valid = (x >= 0) & (x <= 1)
        if not valid.all():
            raise TorchError(
                "Assertion `x >= 0. && x <= 1.' failed. input value should be between 0~1, "
                f"but got {x[valid.argmin()]:f}"
            )
        loss = np.log(x + _EPSILON) * y
        loss += np.log(1 - x + _EPSILON) * (1 - y)
        return -loss * weight[0] if weight else -loss

    _loss(
        call.output,
        call.sizeAverage,
        terms,
        call.input,
        call.target,
        *([] if call.weights is None else [call.weights]),
    )


@thnn(
    "BCECriterion_updateGradInput",
    _GRADIENT + ", THTensor *weights?",
    each="gradInput = -NORM * (target - input)"
    " / ((1 - input + 1e-12) * (input + 1e-12)) if not weights",
)
def bce_gradient(call: Call) -> None:
    """gradInput = (input - target) / (input * (1 - input)), weighted."""
    check_counts(input=call.input, target=call.target)
    check_counts(input=call.input, weights=call.weights)
    norm = -_norm(call.input, call.sizeAverage)

    def compute(x: Array, y: Array, *weight: Array, out: Array) -> None:
        x = x.astype(np.float64, copy=False)
        divisor = 1 - x
        divisor += _EPSILON
        divisor *= x + _EPSILON
        slope = y - x
        slope *= norm
        np.divide(slope, divisor, out=out, casting="same_kind")
        if weight:
            np.multiply(out, weight[0], out=out)

    compute_each(
        call.gradInput,
        compute,
        call.input,
        call.target,
        *([] if call.weights is None else [call.weights]),
    )


@thnn(
    "DistKLDivCriterion_updateOutput",
    _LOSS,
    total="target > 0 and target * (log(target) - input) or 0",
)
def kl_divergence(call: Call) -> None:
    """output = the sum of target * (log(target) - input) where target is positive."""

    def terms(x: Array, y: Array) -> Array:
        terms: Array = y * (np.log(y) - x)
        keep(y > 0, terms, terms)
        return terms

    _loss(call.output, call.sizeAverage, terms, call.input, call.target)


@thnn(
    "DistKLDivCriterion_updateGradInput",
    _GRADIENT,
    each="gradInput = target > 0 and NORM * -target or 0",
)
def kl_divergence_gradient(call: Call) -> None:
    """gradInput = -target where it is positive, 0 elsewhere."""
    check_counts(input=call.input, target=call.target)
    norm = _norm(call.input, call.sizeAverage)

    def compute(_: Array, y: Array, out: Array) -> None:
        keep(y > 0, -norm * y, out)

    compute_each(call.gradInput, compute, call.input, call.target)


@thnn(
    "MarginCriterion_updateOutput",
    _LOSS + ", accreal margin",
    total="max(margin - input * target, 0)",
)
def margin(call: Call) -> None:
    """output = the sum of margin - input * target where that is positive."""
    limit = cast_scalar(call.margin, call.input.dtype)

    def terms(x: Array, y: Array) -> Array:
        z: Array = limit - x * y
        return np.fmax(z, 0, out=z)

    _loss(call.output, call.sizeAverage, terms, call.input, call.target)


@thnn(
    "MarginCriterion_updateGradInput",
    _GRADIENT + ", accreal margin",
    each="gradInput = input * target < margin and -NORM * target or 0",
)
def margin_gradient(call: Call) -> None:
    """gradInput = -target where input * target is less than the margin, 0 elsewhere."""
    check_counts(input=call.input, target=call.target)
    norm, limit = _norm(call.input, call.sizeAverage), cast_scalar(call.margin, call.input.dtype)

    def compute(x: Array, y: Array, out: Array) -> None:
        keep(x * y < limit, -norm * y, out)

    compute_each(call.gradInput, compute, call.input, call.target)


@thnn("SoftMarginCriterion_updateOutput", _LOSS, total="log(1 + exp(-input * target))")
def soft_margin(call: Call) -> None:
    """output = the sum of log(1 + exp(-input * target))."""
    _loss(
        call.output,
        call.sizeAverage,
        lambda x, y: np.log(1 + np.exp(-x * y)),
        call.input,
        call.target,
    )


@thnn(
    "SoftMarginCriterion_updateGradInput",
    _GRADIENT,
    each="gradInput = -NORM * target * exp(-target * input) / (1 + exp(-target * input))",
)
def soft_margin_gradient(call: Call) -> None:
    """gradInput = -target * z / (1 + z) with z = exp(-target * input)."""
    check_counts(input=call.input, target=call.target)
    norm = _norm(call.input, call.sizeAverage)

    def compute(x: Array, y: Array, out: Array) -> None:
        z = np.exp(-y * x)
        np.divide(-norm * y * z, 1 + z, out=out)

    compute_each(call.gradInput, compute, call.input, call.target)


@thnn(
    "SmoothL1Criterion_updateOutput",
    _LOSS,
    total="0.5 * min(abs(input - target), 1) * min(abs(input - target), 1)"
    " + (abs(input - target) - min(abs(input - target), 1))",
)
def smooth_l1(call: Call) -> None:
    """output = the sum of z^2 / 2, or z - 0.5 from 1 on, with z = |input - target|."""

    def terms(x: Array, y: Array) -> Array:
        z: Array = x - y
        np.absolute(z, out=z)
        least = np.minimum(z, 1)
        np.subtract(z, 0.5 * least, out=z)
        return np.multiply(z, least, out=z)

    _loss(call.output, call.sizeAverage, terms, call.input, call.target)


@thnn(
    "SmoothL1Criterion_updateGradInput",
    _GRADIENT,
    each="gradInput = (input - target ~= input - target and input - target"
    " or max(min(input - target, 1), -1)) * NORM",
)
def smooth_l1_gradient(call: Call) -> None:
    """gradInput = input - target, but at least -1 and at most 1."""
    check_counts(input=call.input, target=call.target)
    norm = _norm(call.input, call.sizeAverage)

    def compute(x: Array, y: Array, out: Array) -> None:
        np.multiply(norm, np.clip(x - y, -1, 1), out=out)

    compute_each(call.gradInput, compute, call.input, call.target)


@thnn("L1Cost_updateOutput", "THTensor *input, THTensor *output", total="abs(input)")
def l1_cost(call: Call) -> None:
    """output = the sum of |input|."""
    check_size("output", call.output, 1, 0, 1)
    call.output.array[0] = total(np.absolute, call.input)


@thnn(
    "L1Cost_updateGradInput",
    "THTensor *input, THTensor *gradOutput?, THTensor *gradInput",
    each="gradInput = input > 0 and 1 or input < 0 and -1 or 0 if not gradOutput",
)
def l1_cost_gradient(call: Call) -> None:
    """gradInput = the sign of input."""
    check_counts(input=call.input, gradOutput=call.gradOutput)

    def compute(x: Array, out: Array) -> None:
        np.subtract(x > 0, x < 0, out=out, dtype=np.int8, casting="unsafe")

    compute_each(call.gradInput, compute, call.input)
