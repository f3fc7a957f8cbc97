"""Layers that treat elements by where they lie: Threshold, LeakyReLU, HardTanh and their kin.

In place, the elements of the input, or of gradOutput, are replaced.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.tensor import Tensor
from runtime.ops._operands import check_counts as check_operands
from runtime.thnn._elements import choose, compute_each, keep
from runtime.thnn.checks import check_counts
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_THRESHOLD = ", accreal threshold, accreal val, bool inplace"


@thnn(
    "Threshold_updateOutput",
    _FORWARD + _THRESHOLD,
    each="output = (input > threshold or inplace and input ~= input) and input or val",
)
def threshold_forward(call: Call) -> None:
    """output = input where it is greater than the threshold, value elsewhere."""
    value = call.val
    limit, value = (cast_scalar(x, call.input.dtype) for x in (call.threshold, value))

    def compute(x: Array, out: Array) -> None:
        # Torch7: in place, a nan stays; otherwise it becomes the value.
        choose(~(x <= limit) if call.inplace else x > limit, x, value, out)

    compute_each(call.output, compute, call.input, inplace=call.inplace)


@thnn(
    "Threshold_updateGradInput",
    _BACKWARD + _THRESHOLD,
    each="gradInput = (input > threshold or inplace and input ~= input) and gradOutput or 0",
)
def threshold_backward(call: Call) -> None:
    """gradInput = gradOutput where input is greater than the threshold, 0 elsewhere."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    limit = cast_scalar(call.threshold, call.input.dtype)

    def compute(g: Array, x: Array, out: Array) -> None:
        keep(~(x <= limit) if call.inplace else x > limit, g, out)

    compute_each(
        call.gradInput, compute, call.gradOutput, call.input, inplace=call.inplace, like=call.input
    )


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
def leaky_relu(call: Call) -> None:
    """output = input where it is positive, input * negval elsewhere."""
    _leak(call, call.negval)


def _leak(call: Call, slope: float) -> None:
    def compute(x: Array, out: Array) -> None:
        _scale_negative(x, x, slope, call.inplace, out)

    compute_each(call.output, compute, call.input, inplace=call.inplace)


@thnn(
    "LeakyReLU_updateGradInput",
    _BACKWARD + _LEAKY,
    each="gradInput = (input > 0 or inplace and input ~= input) and gradOutput"
    " or gradOutput * negval",
)
def leaky_relu_backward(call: Call) -> None:
    """gradInput = gradOutput where input is positive, gradOutput * negval elsewhere."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    _scale_gradient(
        call.input,
        call.gradOutput,
        call.gradInput,
        call.negval,
        call.inplace,
        keeps_nan=call.inplace,
    )


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
def elu(call: Call) -> None:
    """output = input where it is positive, (exp(input) - 1) * alpha elsewhere."""
    alpha = call.alpha
    alpha = cast_scalar(alpha, call.input.dtype)

    def compute(x: Array, out: Array) -> None:
        low = np.exp(np.minimum(x, 0), dtype=np.float64)
        low -= 1
        low *= alpha
        choose(x <= 0, low.astype(x.dtype, copy=False), x, out)

    compute_each(call.output, compute, call.input, inplace=call.inplace)


@thnn(
    "ELU_updateGradInput",
    _BACKWARD + ", THTensor *output" + _ELU,
    each="gradInput = output <= 0 and gradOutput * (output + alpha) or gradOutput",
)
def elu_backward(call: Call) -> None:
    """gradInput = gradOutput where output is positive, gradOutput * (output + alpha) elsewhere."""
    alpha = call.alpha
    check_counts(input=call.input, gradOutput=call.gradOutput)
    if call.inplace:
        check_operands(gradOutput=call.gradOutput, output=call.output)
    else:
        check_operands(gradInput=call.output, gradOutput=call.gradOutput, output=call.output)
    alpha = cast_scalar(alpha, call.input.dtype)

    def compute(g: Array, y: Array, out: Array) -> None:
        choose(y <= 0, g * (y + alpha), g, out)

    compute_each(
        call.gradInput,
        compute,
        call.gradOutput,
        call.output,
        inplace=call.inplace,
        like=call.output,
    )


_HARD_TANH = ", accreal min_val, accreal max_val, bool inplace"


@thnn(
    "HardTanh_updateOutput",
    _FORWARD + _HARD_TANH,
    each="output = input ~= input and (inplace and input.nDimension > 1 and input or max_val)"
    " or min(max(input, min_val), max_val) if min_val <= max_val",
)
def hard_tanh(call: Call) -> None:
    """output = input, but at least min_val and at most max_val."""
    least, greatest = call.min_val, call.max_val
    least, greatest = (cast_scalar(x, call.input.dtype) for x in (least, greatest))
    # Torch7: a nan becomes max_val, but stays in place, except in vectors.
    keeps_nan = call.inplace and call.input.ndim > 1 and call.input.is_contiguous

    def compute(x: Array, out: Array) -> None:
        lowest = np.minimum if keeps_nan else np.fmin
        if least <= greatest:
            np.maximum(lowest(x, greatest, out=out), least, out=out)
        else:
            choose(x < least, least, lowest(x, greatest), out)

    compute_each(call.output, compute, call.input, inplace=call.inplace)


@thnn(
    "HardTanh_updateGradInput",
    _BACKWARD + _HARD_TANH,
    each="gradInput = max(min_val - input, input - max_val) >= 0 and 0 or gradOutput",
)
def hard_tanh_backward(call: Call) -> None:
    """gradInput = gradOutput where input is between min_val and max_val, 0 elsewhere."""
    least, greatest = call.min_val, call.max_val
    check_counts(input=call.input, gradOutput=call.gradOutput)
    least, greatest = (cast_scalar(x, call.input.dtype) for x in (least, greatest))

    def compute(g: Array, x: Array, out: Array) -> None:
        keep(~((x <= least) | (x >= greatest)), g, out)

    compute_each(
        call.gradInput, compute, call.gradOutput, call.input, inplace=call.inplace, like=call.input
    )


@thnn(
    "HardShrink_updateOutput",
    _FORWARD + ", accreal lambda",
    each="output = abs(input) > lambda and input or 0 if lambda >= 0",
)
def hard_shrink(call: Call) -> None:
    """output = input where it is farther from 0 than lambda, 0 elsewhere."""
    limit = call.lambda_
    limit = cast_scalar(limit, call.input.dtype)

    def compute(x: Array, out: Array) -> None:
        keep((x > limit) | (x < -limit), x, out)

    compute_each(call.output, compute, call.input)


@thnn(
    "SoftShrink_updateOutput",
    _FORWARD + ", accreal lambda",
    each="output = input ~= input and 0 or input - min(max(input, -lambda), lambda) if lambda >= 0",
)
def soft_shrink(call: Call) -> None:
    """output = input, nearer to 0 by lambda; 0 where it is as near as that."""
    limit = call.lambda_
    limit = cast_scalar(limit, call.input.dtype)

    def compute(x: Array, out: Array) -> None:
        low = x + limit
        keep(x < -limit, low, low)
        choose(x > limit, x - limit, low, out)

    compute_each(call.output, compute, call.input)


_SHRINK = "gradInput = abs(input) > lambda and gradOutput or 0 if lambda >= 0"


@thnn("HardShrink_updateGradInput", _BACKWARD + ", accreal lambda", each=_SHRINK)
@thnn("SoftShrink_updateGradInput", _BACKWARD + ", accreal lambda", each=_SHRINK)
def shrink_backward(call: Call) -> None:
    """gradInput = gradOutput where input is farther from 0 than lambda, 0 elsewhere."""
    limit = call.lambda_
    check_counts(input=call.input, gradOutput=call.gradOutput)
    limit = cast_scalar(limit, call.input.dtype)

    def compute(x: Array, g: Array, out: Array) -> None:
        keep((x > limit) | (x < -limit), g, out)

    compute_each(call.gradInput, compute, call.input, call.gradOutput)


_RANDOM = ", accreal lower, accreal upper, bool train, bool inplace"


@thnn(
    "RReLU_updateOutput",
    "THTensor *input, THTensor *output, THTensor *noise" + _RANDOM + ", THGenerator *generator",
)
def random_relu(call: Call) -> None:
    """output = input * noise; noise is 1 where input is positive, random or the mean elsewhere.

    train: noise is drawn, uniform between lower and upper, for one element after the other;
    otherwise it is their mean, and the tensor noise stays as it is.
    """
    lower, upper = call.lower, call.upper
    lower, upper = (float(cast_scalar(x, call.input.dtype)) for x in (lower, upper))
    if not call.train:
        _leak(call, (lower + upper) / 2)
        return
    negative = call.input.flat <= 0
    factors = np.ones(negative.size, call.input.dtype.numpy)
    draws = call.generator.uniform(int(np.count_nonzero(negative)))
    factors[negative] = draws * (upper - lower) + lower
    call.noise.resize(call.input.sizes)
    if factors.size:
        call.noise.array[...] = factors.reshape(call.input.sizes)
    compute_each(call.output, np.multiply, call.input, call.noise, inplace=call.inplace)


@thnn(
    "RReLU_updateGradInput",
    _BACKWARD + ", THTensor *noise" + _RANDOM,
)
def random_relu_backward(call: Call) -> None:
    """gradInput = gradOutput * noise."""
    lower, upper = call.lower, call.upper
    check_counts(input=call.input, gradOutput=call.gradOutput)
    lower, upper = (float(cast_scalar(x, call.input.dtype)) for x in (lower, upper))
    if not (call.train and cast_scalar(upper - lower, call.input.dtype) > 1e-6):
        slope = (lower + upper) / 2
        _scale_gradient(
            call.input, call.gradOutput, call.gradInput, slope, call.inplace, keeps_nan=True
        )
        return
    check_operands(r_=call.gradOutput, t=call.gradOutput, src=call.noise)
    compute_each(call.gradInput, np.multiply, call.gradOutput, call.noise, inplace=call.inplace)
