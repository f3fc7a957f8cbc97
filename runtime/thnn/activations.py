"""Layers that apply a smooth function to each element: Tanh, Sigmoid, SoftPlus and their kin."""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.ops._operands import check_counts as check_operands
from runtime.ops._operands import elementwise
from runtime.ops.unary import compute_sigmoid
from runtime.thnn._elements import choose, compute_each, keep
from runtime.thnn.checks import check_counts, check_shapes
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
# Where the gradient follows from the output, the input is not looked at.
_BY_OUTPUT = "THTensor *input?, THTensor *gradOutput, THTensor *gradInput, THTensor *output"


@thnn("Tanh_updateOutput", _FORWARD)
def tanh_forward(call: Call) -> None:
    """output = tanh(input)."""
    compute_each(call.output, np.tanh, call.input)


@thnn("Tanh_updateGradInput", _BY_OUTPUT, each="gradInput = gradOutput * (1 - output * output)")
def tanh_backward(call: Call) -> None:
    """gradInput = gradOutput * (1 - output^2)."""
    check_shapes(output=call.output, gradOutput=call.gradOutput)

    def compute(z: Array, g: Array, out: Array) -> None:
        factor = z * z
        np.multiply(g, np.subtract(1, factor, out=factor), out=out)

    compute_each(call.gradInput, compute, call.output, call.gradOutput)


@thnn("Sigmoid_updateOutput", _FORWARD)
def sigmoid_forward(call: Call) -> None:
    """output = 1 / (1 + exp(-input))."""
    compute_each(call.output, compute_sigmoid, call.input)


@thnn("Sigmoid_updateGradInput", _BY_OUTPUT, each="gradInput = gradOutput * (1 - output) * output")
def sigmoid_backward(call: Call) -> None:
    """gradInput = gradOutput * (1 - output) * output."""
    check_counts(output=call.output, gradOutput=call.gradOutput)

    def compute(z: Array, g: Array, out: Array) -> None:
        factor = np.subtract(1, z)
        np.multiply(np.multiply(g, factor, out=factor), z, out=out)

    compute_each(call.gradInput, compute, call.output, call.gradOutput)


@thnn("LogSigmoid_updateOutput", _FORWARD + ", THTensor *buffer")
def log_sigmoid(call: Call) -> None:
    """output = -log(1 + exp(-input)); buffer = the number whose logarithm is taken for it.

    With m = max(0, -input) this is -(m + log(exp(-m) + exp(-input - m))), which does not overflow.
    """

    def sums(x: Array, out: Array) -> None:
        largest = np.maximum(0, -x)
        np.add(np.exp(-largest), np.exp(-x - largest), out=out)

    def compute(x: Array, z: Array, out: Array) -> None:
        np.negative(np.maximum(0, -x) + np.log(z), out=out)

    compute_each(call.buffer, sums, call.input)
    compute_each(call.output, compute, call.input, call.buffer)


@thnn("LogSigmoid_updateGradInput", _BACKWARD + ", THTensor *buffer")
def log_sigmoid_backward(call: Call) -> None:
    """gradInput = gradOutput / (1 + exp(input)), by the numbers that are in the buffer."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    check_operands(input=call.input, gradInput=call.buffer, buffer=call.buffer)

    def compute(g: Array, x: Array, z: Array, out: Array) -> None:
        part = (z - 1) / z
        factor = np.empty_like(part)
        choose(x < 0, 1 - part, part, factor)
        np.multiply(g, factor, out=out)

    compute_each(call.gradInput, compute, call.gradOutput, call.input, call.buffer)


_SOFT_PLUS = ", accreal beta, accreal threshold"


@thnn(
    "SoftPlus_updateOutput",
    _FORWARD + _SOFT_PLUS,
    each="output = real(input * beta) > threshold and input"
    " or log1p(exp(real(input * beta))) / beta",
)
def soft_plus(call: Call) -> None:
    """output = log(1 + exp(beta * input)) / beta, or input where beta * input > threshold."""
    beta = call.beta
    beta, limit = (cast_scalar(x, call.input.dtype) for x in (beta, call.threshold))

    def compute(x: Array, out: Array) -> None:
        exponent = x * beta
        low = np.log1p(np.exp(exponent, dtype=np.float64)) / beta
        choose(exponent > limit, x, low.astype(x.dtype, copy=False), out)

    compute_each(call.output, compute, call.input)


#: Torch7: rounded to the element type; what follows is computed in double precision.
_EXPONENTIAL = "real(exp(real(output * beta)))"


@thnn(
    "SoftPlus_updateGradInput",
    _BACKWARD + ", THTensor *output" + _SOFT_PLUS,
    each="gradInput = real(output * beta) > threshold and gradOutput"
    f" or gradOutput * ({_EXPONENTIAL} - 1) / {_EXPONENTIAL}",
)
def soft_plus_backward(call: Call) -> None:
    """gradInput = gradOutput * (1 - exp(-beta * output)), or gradOutput beyond the threshold."""
    beta = call.beta
    check_counts(input=call.input, gradOutput=call.gradOutput)
    check_operands(gradInput=call.output, gradOutput=call.gradOutput, output=call.output)
    beta, limit = (cast_scalar(x, call.input.dtype) for x in (beta, call.threshold))

    def compute(y: Array, g: Array, out: Array) -> None:
        exponent = y * beta
        z = np.exp(exponent, dtype=np.float64).astype(y.dtype).astype(np.float64)
        low = g * (z - 1) / z
        choose(exponent > limit, g, low.astype(g.dtype, copy=False), out)

    compute_each(call.gradInput, compute, call.output, call.gradOutput)


@thnn("Abs_updateOutput", _FORWARD)
def absolute(call: Call) -> None:
    """output = |input|."""
    compute_each(call.output, np.absolute, call.input)


@thnn("Abs_updateGradInput", _BACKWARD, each="gradInput = input >= 0 and gradOutput or -gradOutput")
def absolute_backward(call: Call) -> None:
    """gradInput = gradOutput where input is 0 or more, -gradOutput elsewhere."""
    check_counts(input=call.input, gradOutput=call.gradOutput)

    def compute(x: Array, g: Array, out: Array) -> None:
        choose(x >= 0, g, -g, out)

    compute_each(call.gradInput, compute, call.input, call.gradOutput)


@thnn("Sqrt_updateOutput", _FORWARD + ", accreal eps")
def square_root(call: Call) -> None:
    """output = the square root of input. Torch7: eps is not used."""
    compute_each(call.output, np.sqrt, call.input)


@thnn(
    "Sqrt_updateGradInput",
    _BACKWARD + ", THTensor *output",
    each="gradInput = output == 0 and 0 or 0.5 * (gradOutput / output)",
)
def square_root_backward(call: Call) -> None:
    """gradInput = gradOutput / (2 * output), and 0 where output is 0."""
    check_shapes(output=call.output, gradOutput=call.gradOutput)
    check_operands(gradInput=call.input, gradOutput=call.gradOutput, output=call.output)

    def compute(y: Array, g: Array, out: Array) -> None:
        slope = g / y
        keep(y != 0, np.multiply(slope, 0.5, out=slope), out)

    compute_each(call.gradInput, compute, call.output, call.gradOutput, like=call.input)


@thnn("Square_updateOutput", _FORWARD)
def square(call: Call) -> None:
    """output = input^2."""
    compute_each(call.output, np.square, call.input)


@thnn("Square_updateGradInput", _BACKWARD, each="gradInput = 2 * gradOutput * input")
def square_backward(call: Call) -> None:
    """gradInput = 2 * gradOutput * input."""
    check_shapes(input=call.input, gradOutput=call.gradOutput)

    def compute(x: Array, g: Array, out: Array) -> None:
        np.multiply(2 * g, x, out=out)

    compute_each(call.gradInput, compute, call.input, call.gradOutput)


def _halves(input: Tensor, dim: int) -> tuple[int, Tensor, Tensor]:
    """A dimension, from 0, and the tensor's two halves along it."""
    if not 1 <= dim <= input.ndim:
        raise ArgError(2, f"dimension {dim} out of range of {input.ndim}D tensor")
    size = input.sizes[dim - 1]
    if size % 2:
        raise ArgError(2, f"Halving dimension must be even. Dim {dim} is size {size}")
    half = size // 2
    return dim - 1, input.narrow(dim - 1, 0, half), input.narrow(dim - 1, half, half)


@thnn("GatedLinear_updateOutput", _FORWARD + ", int dim")
def gated_linear(call: Call) -> None:
    """output = the first half of input times the sigmoid of its second half."""
    _, first, second = _halves(call.input, call.dim)

    def compute(x: Array, gate: Array, out: Array) -> None:
        factor = np.empty_like(gate)
        compute_sigmoid(gate, out=factor)
        np.multiply(factor, x, out=out)

    compute_each(call.output, compute, first, second)


@thnn("GatedLinear_updateGradInput", _BACKWARD + ", int dim")
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
        np.multiply((1 - z) * z * g, y, out=out)

    call.gradInput.resize(call.input.sizes)
    half = first.sizes[dim]
    elementwise(call.gradInput.narrow(dim, half, half), slope, second, call.gradOutput, first)
    elementwise(call.gradInput.narrow(dim, 0, half), gate, second, call.gradOutput)
