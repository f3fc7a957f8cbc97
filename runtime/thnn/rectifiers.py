"""Layers that treat elements by where they lie: Threshold, LeakyReLU, HardTanh and their kin.

In place, the elements of the input, or of gradOutput, are replaced.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import cast_scalar
from runtime.ops._operands import check_counts as check_operands
from runtime.thnn._formulas import compute_formula, formula, formulas_of
from runtime.thnn.checks import check_counts
from runtime.thnn.table import BACKWARD, FORWARD, Call, thnn


def _same_count(call: Call) -> None:
    check_counts(input=call.input, gradOutput=call.gradOutput)


_THRESHOLD = ", accreal threshold, accreal val, bool inplace"

# Torch7: in place, a nan stays; otherwise it becomes the value.
formula(
    "Threshold_updateOutput",
    FORWARD + _THRESHOLD,
    "output = fmax(input, threshold) + 0 if threshold == 0 and val == 0 and not inplace"
    " else maximum(input, threshold) + 0 if threshold == 0 and val == 0"
    " else input <= threshold and val or input if inplace"
    " else input > threshold and input or val",
)
formula(
    "Threshold_updateGradInput",
    BACKWARD + _THRESHOLD,
    "gradInput = input <= threshold and 0 or gradOutput if inplace"
    " else input > threshold and gradOutput or 0",
    check=_same_count,
)

_LEAKY = ", accreal negval, bool inplace"
_LEAK = (
    "output = input * (input <= 0 and negval or 1) if inplace"
    " else input * (input > 0 and 1 or negval)"
)
_LEAK_BACK = (
    "gradInput = gradOutput * (input <= 0 and negval or 1) if {}"
    " else gradOutput * (input > 0 and 1 or negval)"
)
formula("LeakyReLU_updateOutput", FORWARD + _LEAKY, _LEAK)
formula(
    "LeakyReLU_updateGradInput",
    BACKWARD + _LEAKY,
    _LEAK_BACK.format("inplace"),
    check=_same_count,
)

_ELU = ", accreal alpha, bool inplace"


def _check_elu(call: Call) -> None:
    _same_count(call)
    if call.inplace:
        check_operands(gradOutput=call.gradOutput, output=call.output)
    else:
        check_operands(gradInput=call.output, gradOutput=call.gradOutput, output=call.output)


formula(
    "ELU_updateOutput",
    FORWARD + _ELU,
    "output = input <= 0 and cast((exp(double(input)) - 1) * alpha) or input",
)
formula(
    "ELU_updateGradInput",
    BACKWARD + ", output" + _ELU,
    "gradInput = output <= 0 and gradOutput * (output + alpha) or gradOutput",
    check=_check_elu,
    like="output",
)

_HARD_TANH = ", accreal min_val, accreal max_val, bool inplace"

# Torch7: a nan becomes max_val, but stays in place, except in vectors.
formula(
    "HardTanh_updateOutput",
    FORWARD + _HARD_TANH,
    "output = input < min_val and min_val or fmin(input, max_val) if min_val > max_val"
    " else maximum(minimum(input, max_val), min_val)"
    " if inplace and input.ndim > 1 and input.is_contiguous"
    " else maximum(fmin(input, max_val), min_val)",
)
formula(
    "HardTanh_updateGradInput",
    BACKWARD + _HARD_TANH,
    "gradInput = maximum(min_val - input, input - max_val) >= 0 and 0 or gradOutput",
    check=_same_count,
)

_SHRINK = "gradInput = absolute(input) > lambda_ and gradOutput or 0"

formula(
    "HardShrink_updateOutput",
    FORWARD + ", accreal lambda",
    "output = absolute(input) > lambda_ and input or 0",
)
formula(
    "SoftShrink_updateOutput",
    FORWARD + ", accreal lambda",
    "output = input > lambda_ and input - lambda_ or input < -lambda_ and input + lambda_ or 0",
)
for name in ("HardShrink", "SoftShrink"):
    formula(f"{name}_updateGradInput", BACKWARD + ", accreal lambda", _SHRINK, check=_same_count)

_RANDOM = ", accreal lower, accreal upper, bool train, bool inplace"
(_LEAKING,) = formulas_of(_LEAK, None)
(_LEAKING_BACK,) = formulas_of(_LEAK_BACK.format("True"), None)


@thnn(
    "RReLU_updateOutput",
    "input, output, noise" + _RANDOM + ", THGenerator *generator",
    repeats=False,
)
def random_relu(call: Call) -> None:
    """output = input * noise; noise is 1 where input is positive, random or the mean elsewhere.

    train: noise is drawn, uniform between lower and upper, for one element after the other;
    otherwise it is their mean, and the tensor noise stays as it is.
    """
    lower, upper = (float(cast_scalar(x, call.input.dtype)) for x in (call.lower, call.upper))
    if not call.train:
        compute_formula(_LEAKING, call, negval=(lower + upper) / 2)
        return
    negative = call.input.flat <= 0
    factors = np.ones(negative.size, call.input.dtype.numpy)
    draws = call.generator.uniform(int(np.count_nonzero(negative)))
    factors[negative] = draws * (upper - lower) + lower
    call.noise.resize(call.input.sizes)
    if factors.size:
        call.noise.array[...] = factors.reshape(call.input.sizes)
    compute_formula(_TIMES_NOISE, call)


@thnn(
    "RReLU_updateGradInput",
    BACKWARD + ", noise" + _RANDOM,
    repeats=False,
)
def random_relu_backward(call: Call) -> None:
    """gradInput = gradOutput * noise."""
    _same_count(call)
    lower, upper = (float(cast_scalar(x, call.input.dtype)) for x in (call.lower, call.upper))
    if not (call.train and cast_scalar(upper - lower, call.input.dtype) > 1e-6):
        compute_formula(_LEAKING_BACK, call, negval=(lower + upper) / 2)
        return
    check_operands(r_=call.gradOutput, t=call.gradOutput, src=call.noise)
    compute_formula(_TIMES_NOISE_BACK, call)


(_TIMES_NOISE,) = formulas_of("output = input * noise", None)
(_TIMES_NOISE_BACK,) = formulas_of("gradInput = gradOutput * noise", "gradOutput")
