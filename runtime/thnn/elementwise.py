"""Layers that go element by element: Tanh, Sigmoid, SoftPlus, Threshold, HardTanh and their kin.

In place, the elements of the input, or of gradOutput, are replaced.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.core.dtypes import Array, cast_scalar
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import check_counts as check_operands
from th_shell.runtime.ops._operands import elementwise
from th_shell.runtime.ops.pointwise import compute_sigmoid
from th_shell.runtime.thnn._formulas import compute_formula, formula, formulas_of
from th_shell.runtime.thnn.checks import check_counts, check_shapes
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn, unrepeated

# Where the gradient follows from the output, the input is not looked at.
_BY_OUTPUT = "input?, gradOutput, gradInput, output"


def _same_count(call: Call) -> None:
    check_counts(input=call.input, gradOutput=call.gradOutput)


def _by_input(name: str, numbers: str, forward: str, backward: str) -> None:
    """Add both rows of a layer whose gradient follows from the input.

    numbers: the parameters behind the tensors. forward, backward: the formulas.
    """
    formula(f"{name}_updateOutput", FORWARD + numbers, forward)
    formula(f"{name}_updateGradInput", BACKWARD + numbers, backward, check=_same_count)


# -- from the output

formula("Tanh_updateOutput", FORWARD, "output = tanh(input)")
formula(
    "Tanh_updateGradInput",
    _BY_OUTPUT,
    "gradInput = gradOutput * (1 - output * output)",
    check=lambda call: check_shapes(output=call.output, gradOutput=call.gradOutput),
    like="output",
)
formula("Sigmoid_updateOutput", FORWARD, "output = reciprocal(exp(-input) + 1)")
formula(
    "Sigmoid_updateGradInput",
    _BY_OUTPUT,
    "gradInput = gradOutput * (1 - output) * output",
    check=lambda call: check_counts(output=call.output, gradOutput=call.gradOutput),
    like="output",
)


def _check_root(call: Call) -> None:
    check_shapes(output=call.output, gradOutput=call.gradOutput)
    check_operands(gradInput=call.input, gradOutput=call.gradOutput, output=call.output)


# Torch7: eps is not used.
formula("Sqrt_updateOutput", FORWARD + ", accreal eps", "output = sqrt(input)")
formula(
    "Sqrt_updateGradInput",
    BACKWARD + ", output",
    "gradInput = output != 0 and 0.5 * (gradOutput / output) or 0",
    check=_check_root,
)

# -- from the input

_by_input(
    "Abs", "", "output = absolute(input)", "gradInput = input >= 0 and gradOutput or -gradOutput"
)
formula("Square_updateOutput", FORWARD, "output = square(input)")
formula(
    "Square_updateGradInput",
    BACKWARD,
    "gradInput = 2 * gradOutput * input",
    check=lambda call: check_shapes(input=call.input, gradOutput=call.gradOutput),
)


def _check_buffer(call: Call) -> None:
    _same_count(call)
    check_operands(input=call.input, gradInput=call.buffer, buffer=call.buffer)


# Torch7: what calls exp or log, or has a number like 1., is computed with doubles and rounded once.
# For Tanh and Sigmoid it would take longer here than there.
# With m = max(0, -input), -log(1 + exp(-input)) is -(m + log(exp(-m) + exp(-input - m))), which
# does not overflow. The number whose logarithm is taken is kept.
formula(
    "LogSigmoid_updateOutput",
    FORWARD + ", buffer",
    "buffer = cast(exp(double(-maximum(0, -input))) + exp(double(-input - maximum(0, -input)))); "
    "output = cast(-(double(maximum(0, -input)) + log(double(buffer))))",
)
_QUOTIENT = "(double(buffer) - 1) / double(buffer)"
formula(
    "LogSigmoid_updateGradInput",
    BACKWARD + ", buffer",
    f"gradInput = gradOutput * cast(input < 0 and 1 - {_QUOTIENT} or {_QUOTIENT})",
    check=_check_buffer,
    like="gradOutput",
)

_SOFT_PLUS = ", accreal beta, accreal threshold"
# Torch7: rounded to the element type; what follows is computed in double precision.
_EXPONENTIAL = "double(cast(exp(double(output * beta))))"


def _check_output(call: Call) -> None:
    _same_count(call)
    check_operands(gradInput=call.output, gradOutput=call.gradOutput, output=call.output)


formula(
    "SoftPlus_updateOutput",
    FORWARD + _SOFT_PLUS,
    "output = input * beta > threshold and input or cast(log1p(exp(double(input * beta))) / beta)",
)
formula(
    "SoftPlus_updateGradInput",
    BACKWARD + ", output" + _SOFT_PLUS,
    "gradInput = output * beta > threshold and gradOutput"
    f" or cast(double(gradOutput) * ({_EXPONENTIAL} - 1) / {_EXPONENTIAL})",
    check=_check_output,
    like="output",
)

# -- with a gate


def _halves(input: Tensor, dim: int) -> tuple[int, Tensor, Tensor]:
    """A dimension, from 0, and the tensor's two halves along it."""
    if not 1 <= dim <= input.ndim:
        raise ArgError(2, f"dimension {dim} out of range of {input.ndim}D tensor")
    size = input.sizes[dim - 1]
    if size % 2:
        raise ArgError(2, f"Halving dimension must be even. Dim {dim} is size {size}")
    half = size // 2
    return dim - 1, input.narrow(dim - 1, 0, half), input.narrow(dim - 1, half, half)


@unrepeated("GatedLinear_updateOutput", FORWARD + ", int dim")
def gated_linear(call: Call) -> None:
    """output = the first half of input times the sigmoid of its second half."""
    _, first, second = _halves(call.input, call.dim)

    def compute(x: Array, gate: Array, out: Array) -> None:
        factor = np.empty_like(gate)
        compute_sigmoid(gate, out=factor)
        np.multiply(factor, x, out=out)

    call.output.resize(first.sizes)
    elementwise(call.output, compute, first, second)


@unrepeated("GatedLinear_updateGradInput", BACKWARD + ", int dim")
def gated_linear_backward(call: Call) -> None:
    """The gradients of both halves: gradOutput * s, gradOutput * s * (1 - s) * first half."""
    dim = call.dim
    dim, first, second = _halves(call.input, dim)
    check_operands(r_=first, t=first, src=call.gradOutput)

    def gate(x: Array, g: Array, out: Array) -> None:
        compute_sigmoid(x, out=out)
        np.multiply(out, g, out=out)

    def slope(x: Array, g: Array, y: Array, out: Array) -> None:
        z = np.empty_like(x)
        compute_sigmoid(x, out=z)
        np.multiply(((1 - z.astype(np.float64)) * z).astype(z.dtype) * g, y, out=out)

    call.gradInput.resize(call.input.sizes)
    half = first.sizes[dim]
    elementwise(call.gradInput.narrow(dim, half, half), slope, second, call.gradOutput, first)
    elementwise(call.gradInput.narrow(dim, 0, half), gate, second, call.gradOutput)


# -- by where elements lie

# Torch7: in place, a nan stays; otherwise it becomes the value.
_by_input(
    "Threshold",
    ", accreal threshold, accreal val, bool inplace",
    "output = fmax(input, threshold) + 0 if threshold == 0 and val == 0 and not inplace"
    " else maximum(input, threshold) + 0 if threshold == 0 and val == 0"
    " else input <= threshold and val or input if inplace"
    " else input > threshold and input or val",
    "gradInput = input <= threshold and 0 or gradOutput if inplace"
    " else input > threshold and gradOutput or 0",
)

_LEAK = (
    "output = input * (input <= 0 and negval or 1) if inplace"
    " else input * (input > 0 and 1 or negval)"
)
_LEAK_BACK = (
    "gradInput = gradOutput * (input <= 0 and negval or 1) if {}"
    " else gradOutput * (input > 0 and 1 or negval)"
)
_by_input("LeakyReLU", ", accreal negval, bool inplace", _LEAK, _LEAK_BACK.format("inplace"))

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

# Torch7: a nan becomes max_val, but stays in place, except in vectors.
_STAYS = "inplace and input.ndim > 1 and input.is_contiguous"
# Of two zeros, maximum and minimum may give either.
_PLAIN = "min_val <= max_val and min_val != 0 and max_val != 0"
_OF_RELU6 = "min_val == 0 < max_val"

_by_input(
    "HardTanh",
    ", accreal min_val, accreal max_val, bool inplace",
    "output = maximum(minimum(input, max_val), min_val)"
    f" if {_STAYS} and {_PLAIN}"
    f" else input < 0 and 0 or minimum(input, max_val) if {_STAYS} and {_OF_RELU6}"
    " else input < min_val and min_val or input > max_val and max_val or input"
    f" if {_STAYS}"
    f" else maximum(fmin(input, max_val), min_val) if {_PLAIN}"
    f" else input < 0 and 0 or fmin(input, max_val) if {_OF_RELU6}"
    " else input < min_val and min_val or input <= max_val and input or max_val",
    "gradInput = maximum(min_val - input, input - max_val) >= 0 and 0 or gradOutput",
)

_SHRINK = "gradInput = absolute(input) > lambda_ and gradOutput or 0"

_by_input(
    "HardShrink",
    ", accreal lambda",
    "output = absolute(input) > lambda_ and input or 0",
    _SHRINK,
)
_by_input(
    "SoftShrink",
    ", accreal lambda",
    "output = input > lambda_ and input - lambda_ or input < -lambda_ and input + lambda_ or 0",
    _SHRINK,
)

_RANDOM = ", accreal lower, accreal upper, bool train, bool inplace"
(_LEAKING,) = formulas_of(_LEAK, None)
(_LEAKING_BACK,) = formulas_of(_LEAK_BACK.format("True"), None)


@unrepeated("RReLU_updateOutput", "input, output, noise" + _RANDOM + ", THGenerator *generator")
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


@thnn("RReLU_updateGradInput", BACKWARD + ", noise" + _RANDOM)
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
