"""Layers that apply a function to each element: Tanh, Sigmoid, Threshold and their kin."""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.tensor import Tensor
from runtime.ops.unary import compute_sigmoid
from runtime.thnn._elements import compute_each
from runtime.thnn.checks import check_counts, check_shapes
from runtime.thnn.table import thnn

__all__: list[str] = []

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
# Where the gradient follows from the output, the input is not looked at.
_BY_OUTPUT = "THTensor *input?, THTensor *gradOutput, THTensor *gradInput, THTensor *output"


@thnn("Tanh_updateOutput", _FORWARD)
def tanh_forward(input: Tensor, output: Tensor) -> None:
    """output = tanh(input)."""
    compute_each(output, np.tanh, input)


@thnn("Tanh_updateGradInput", _BY_OUTPUT, each="gradInput = gradOutput * (1 - output * output)")
def tanh_backward(_: Tensor | None, grad_output: Tensor, gradient: Tensor, output: Tensor) -> None:
    """gradInput = gradOutput * (1 - output^2)."""
    check_shapes(output=output, gradOutput=grad_output)

    def compute(z: Array, g: Array, out: Array) -> None:
        factor = z * z
        np.multiply(g, np.subtract(1, factor, out=factor), out=out)

    compute_each(gradient, compute, output, grad_output)


@thnn("Sigmoid_updateOutput", _FORWARD)
def sigmoid_forward(input: Tensor, output: Tensor) -> None:
    """output = 1 / (1 + exp(-input))."""
    compute_each(output, compute_sigmoid, input)


@thnn("Sigmoid_updateGradInput", _BY_OUTPUT, each="gradInput = gradOutput * (1 - output) * output")
def sigmoid_backward(
    _: Tensor | None, grad_output: Tensor, gradient: Tensor, output: Tensor
) -> None:
    """gradInput = gradOutput * (1 - output) * output."""
    check_counts(output=output, gradOutput=grad_output)

    def compute(z: Array, g: Array, out: Array) -> None:
        factor = np.subtract(1, z)
        np.multiply(np.multiply(g, factor, out=factor), z, out=out)

    compute_each(gradient, compute, output, grad_output)


_THRESHOLD = ", accreal threshold, accreal val, bool inplace"


@thnn(
    "Threshold_updateOutput",
    _FORWARD + _THRESHOLD,
    each="output = input > threshold and input or val",
)
def threshold_forward(
    input: Tensor, output: Tensor, threshold: float, value: float, inplace: bool
) -> None:
    """output = input where it is greater than the threshold, value elsewhere."""
    limit, value = (cast_scalar(x, input.dtype) for x in (threshold, value))

    def compute(x: Array, out: Array) -> None:
        # Torch7: in place, a nan stays; otherwise it becomes the value.
        keep = ~(x <= limit) if inplace else x > limit
        np.copyto(out, np.where(keep, x, value))

    compute_each(output, compute, input, inplace=inplace)


@thnn(
    "Threshold_updateGradInput",
    _BACKWARD + _THRESHOLD,
    each="gradInput = input > threshold and gradOutput or 0",
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
        keep = ~(x <= limit) if inplace else x > limit
        np.copyto(out, np.where(keep, g, 0))

    compute_each(gradient, compute, grad_output, input, inplace=inplace, like=input)
