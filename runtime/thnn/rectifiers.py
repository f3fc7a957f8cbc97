"""Layers that treat elements by where they lie: Threshold, LeakyReLU, HardTanh and their kin.

In place, the elements of the input, or of gradOutput, are replaced.
"""

from __future__ import annotations

import numpy as np

from runtime.compute.generator import Generator
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.tensor import Tensor
from runtime.ops._operands import check_counts as check_operands
from runtime.thnn._elements import choose, compute_each, keep
from runtime.thnn.checks import check_counts
from runtime.thnn.table import thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_THRESHOLD = ", accreal threshold, accreal val, bool inplace"


@thnn(
    "Threshold_updateOutput",
    _FORWARD + _THRESHOLD,
    each="output = (input > threshold or inplace and input ~= input) and input or val",
)
def threshold_forward(
    input: Tensor, output: Tensor, threshold: float, value: float, inplace: bool
) -> None:
    """output = input where it is greater than the threshold, value elsewhere."""
    limit, value = (cast_scalar(x, input.dtype) for x in (threshold, value))

    def compute(x: Array, out: Array) -> None:
        # Torch7: in place, a nan stays; otherwise it becomes the value.
        choose(~(x <= limit) if inplace else x > limit, x, value, out)

    compute_each(output, compute, input, inplace=inplace)


@thnn(
    "Threshold_updateGradInput",
    _BACKWARD + _THRESHOLD,
    each="gradInput = (input > threshold or inplace and input ~= input) and gradOutput or 0",
)
def threshold_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    threshold: float,
    _: float,
    inplace: bool,
) -> None:
    """gradInput = gradOutput where input is greater than the threshold, 0 elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    limit = cast_scalar(threshold, input.dtype)

    def compute(g: Array, x: Array, out: Array) -> None:
        keep(~(x <= limit) if inplace else x > limit, g, out)

    compute_each(gradient, compute, grad_output, input, inplace=inplace, like=input)


_LEAKY = ", accreal negval, bool inplace"


def _scale_negative(x: Array, g: Array, slope: float, keeps_nan: bool, out: Array) -> None:
    """out = g where x is positive, g * slope elsewhere; keeps_nan: g stays where x is a nan."""
    factor = np.empty_like(x)
    choose(~(x <= 0) if keeps_nan else x > 0, 1, slope, factor)
    np.multiply(g, factor, out=out)


@thnn(
    "LeakyReLU_updateOutput",
    _FORWARD + _LEAKY,
    each="output = input > 0 and input or input * negval",
)
def leaky_relu(input: Tensor, output: Tensor, slope: float, inplace: bool) -> None:
    """output = input where it is positive, input * negval elsewhere."""

    def compute(x: Array, out: Array) -> None:
        _scale_negative(x, x, slope, inplace, out)

    compute_each(output, compute, input, inplace=inplace)


@thnn(
    "LeakyReLU_updateGradInput",
    _BACKWARD + _LEAKY,
    each="gradInput = (input > 0 or inplace and input ~= input) and gradOutput"
    " or gradOutput * negval",
)
def leaky_relu_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, slope: float, inplace: bool
) -> None:
    """gradInput = gradOutput where input is positive, gradOutput * negval elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    _scale_gradient(input, grad_output, gradient, slope, inplace, keeps_nan=inplace)


def _scale_gradient(
    input: Tensor, upper: Tensor, gradient: Tensor, slope: float, inplace: bool, keeps_nan: bool
) -> None:
    def compute(g: Array, x: Array, out: Array) -> None:
        _scale_negative(x, g, slope, keeps_nan, out)

    compute_each(gradient, compute, upper, input, inplace=inplace, like=input)


_ELU = ", accreal alpha, bool inplace"


@thnn(
    "ELU_updateOutput",
    _FORWARD + _ELU,
    each="output = input <= 0 and (exp(input) - 1) * alpha or input",
)
def elu(input: Tensor, output: Tensor, alpha: float, inplace: bool) -> None:
    """output = input where it is positive, (exp(input) - 1) * alpha elsewhere."""
    alpha = cast_scalar(alpha, input.dtype)

    def compute(x: Array, out: Array) -> None:
        low = np.exp(np.minimum(x, 0), dtype=np.float64)
        low -= 1
        low *= alpha
        choose(x <= 0, low.astype(x.dtype, copy=False), x, out)

    compute_each(output, compute, input, inplace=inplace)


@thnn(
    "ELU_updateGradInput",
    _BACKWARD + ", THTensor *output" + _ELU,
    each="gradInput = output <= 0 and gradOutput * (output + alpha) or gradOutput",
)
def elu_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    output: Tensor,
    alpha: float,
    inplace: bool,
) -> None:
    """gradInput = gradOutput where output is positive, gradOutput * (output + alpha) elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    if inplace:
        check_operands(gradOutput=grad_output, output=output)
    else:
        check_operands(gradInput=output, gradOutput=grad_output, output=output)
    alpha = cast_scalar(alpha, input.dtype)

    def compute(g: Array, y: Array, out: Array) -> None:
        choose(y <= 0, g * (y + alpha), g, out)

    compute_each(gradient, compute, grad_output, output, inplace=inplace, like=output)


_HARD_TANH = ", accreal min_val, accreal max_val, bool inplace"


@thnn(
    "HardTanh_updateOutput",
    _FORWARD + _HARD_TANH,
    each="output = input ~= input and (inplace and input.nDimension > 1 and input or max_val)"
    " or min(max(input, min_val), max_val) if min_val <= max_val",
)
def hard_tanh(input: Tensor, output: Tensor, least: float, greatest: float, inplace: bool) -> None:
    """output = input, but at least min_val and at most max_val."""
    least, greatest = (cast_scalar(x, input.dtype) for x in (least, greatest))
    # Torch7: a nan becomes max_val, but stays in place, except in vectors.
    keeps_nan = inplace and input.ndim > 1 and input.is_contiguous

    def compute(x: Array, out: Array) -> None:
        lowest = np.minimum if keeps_nan else np.fmin
        if least <= greatest:
            np.maximum(lowest(x, greatest, out=out), least, out=out)
        else:
            choose(x < least, least, lowest(x, greatest), out)

    compute_each(output, compute, input, inplace=inplace)


@thnn(
    "HardTanh_updateGradInput",
    _BACKWARD + _HARD_TANH,
    each="gradInput = max(min_val - input, input - max_val) >= 0 and 0 or gradOutput",
)
def hard_tanh_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    least: float,
    greatest: float,
    inplace: bool,
) -> None:
    """gradInput = gradOutput where input is between min_val and max_val, 0 elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    least, greatest = (cast_scalar(x, input.dtype) for x in (least, greatest))

    def compute(g: Array, x: Array, out: Array) -> None:
        keep(~((x <= least) | (x >= greatest)), g, out)

    compute_each(gradient, compute, grad_output, input, inplace=inplace, like=input)


@thnn(
    "HardShrink_updateOutput",
    _FORWARD + ", accreal lambda",
    each="output = abs(input) > lambda and input or 0 if lambda >= 0",
)
def hard_shrink(input: Tensor, output: Tensor, limit: float) -> None:
    """output = input where it is farther from 0 than lambda, 0 elsewhere."""
    limit = cast_scalar(limit, input.dtype)

    def compute(x: Array, out: Array) -> None:
        keep((x > limit) | (x < -limit), x, out)

    compute_each(output, compute, input)


@thnn(
    "SoftShrink_updateOutput",
    _FORWARD + ", accreal lambda",
    each="output = input ~= input and 0 or input - min(max(input, -lambda), lambda) if lambda >= 0",
)
def soft_shrink(input: Tensor, output: Tensor, limit: float) -> None:
    """output = input, nearer to 0 by lambda; 0 where it is as near as that."""
    limit = cast_scalar(limit, input.dtype)

    def compute(x: Array, out: Array) -> None:
        low = x + limit
        keep(x < -limit, low, low)
        choose(x > limit, x - limit, low, out)

    compute_each(output, compute, input)


_SHRINK = "gradInput = abs(input) > lambda and gradOutput or 0 if lambda >= 0"


@thnn("HardShrink_updateGradInput", _BACKWARD + ", accreal lambda", each=_SHRINK)
@thnn("SoftShrink_updateGradInput", _BACKWARD + ", accreal lambda", each=_SHRINK)
def shrink_backward(input: Tensor, grad_output: Tensor, gradient: Tensor, limit: float) -> None:
    """gradInput = gradOutput where input is farther from 0 than lambda, 0 elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    limit = cast_scalar(limit, input.dtype)

    def compute(x: Array, g: Array, out: Array) -> None:
        keep((x > limit) | (x < -limit), g, out)

    compute_each(gradient, compute, input, grad_output)


_RANDOM = ", accreal lower, accreal upper, bool train, bool inplace"


@thnn(
    "RReLU_updateOutput",
    "THTensor *input, THTensor *output, THTensor *noise" + _RANDOM + ", THGenerator *generator",
)
def random_relu(
    input: Tensor,
    output: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    train: bool,
    inplace: bool,
    generator: Generator,
) -> None:
    """output = input * noise; noise is 1 where input is positive, random or the mean elsewhere.

    train: noise is drawn, uniform between lower and upper, for one element after the other;
    otherwise it is their mean, and the tensor noise stays as it is.
    """
    lower, upper = (float(cast_scalar(x, input.dtype)) for x in (lower, upper))
    if not train:
        leaky_relu(input, output, (lower + upper) / 2, inplace)
        return
    negative = input.flat <= 0
    factors = np.ones(negative.size, input.dtype.numpy)
    draws = generator.uniform(int(np.count_nonzero(negative)))
    factors[negative] = draws * (upper - lower) + lower
    noise.resize(input.sizes)
    if factors.size:
        noise.array[...] = factors.reshape(input.sizes)
    compute_each(output, np.multiply, input, noise, inplace=inplace)


@thnn(
    "RReLU_updateGradInput",
    _BACKWARD + ", THTensor *noise" + _RANDOM,
)
def random_relu_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    train: bool,
    inplace: bool,
) -> None:
    """gradInput = gradOutput * noise."""
    check_counts(input=input, gradOutput=grad_output)
    lower, upper = (float(cast_scalar(x, input.dtype)) for x in (lower, upper))
    if not (train and cast_scalar(upper - lower, input.dtype) > 1e-6):
        slope = (lower + upper) / 2
        _scale_gradient(input, grad_output, gradient, slope, inplace, keeps_nan=True)
        return
    check_operands(r_=grad_output, t=grad_output, src=noise)
    compute_each(gradient, np.multiply, grad_output, noise, inplace=inplace)
