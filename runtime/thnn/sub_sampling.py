"""SpatialSubSampling: the sums of windows of each plane, times a weight of the plane."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._convolution import adding, read, writing
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_NUMBERS = "int kW, int kH, int dW, int dH"


@thnn(
    "SpatialSubSampling_updateOutput",
    f"THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, {_NUMBERS}",
)
def forward(call: Call) -> None:
    """output = bias + weight * the sums of windows."""
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    planes, count = _checked(call.input, call.weight, call.numbers)
    _check_count("bias", call.bias, planes)
    x, w, b = (read(t, call.output) for t in (call.input, call.weight, call.bias))
    w, b = (t.reshape(-1)[:planes, None, None] for t in (w, b))
    with writing((call.output, (*call.input.sizes[:-2], *count))) as (out,):
        np.multiply(_sums(x, count, call.numbers), w, out=out)
        out += b


@thnn(
    "SpatialSubSampling_updateGradInput",
    f"THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, {_NUMBERS}",
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    planes, count = _checked(call.input, call.weight, call.numbers)
    _check_gradient(call.gradOutput, call.input, count)
    g, w = (read(t, call.gradInput) for t in (call.gradOutput, call.weight))
    products = g.reshape(*call.input.sizes[:-2], *count) * w.reshape(-1)[:planes, None, None]
    with writing((call.gradInput, call.input.sizes)) as (out,):
        out[...] = 0
        for part in _parts(out, count, call.numbers):
            part += products


@thnn(
    "SpatialSubSampling_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, "
    f"{_NUMBERS}, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    planes, count = _checked(call.input, call.gradWeight, call.numbers)
    _check_gradient(call.gradOutput, call.input, count)
    _check_count("gradBias", call.gradBias, planes)
    x, g = (read(t, call.gradWeight, call.gradBias) for t in (call.input, call.gradOutput))
    g = g.reshape(-1, planes, *count)
    products = g * _sums(x, count, call.numbers).reshape(g.shape)
    factor = g.dtype.type(cast_scalar(call.scale, call.gradWeight.dtype))
    for tensor, added in ((call.gradWeight, products), (call.gradBias, g)):
        with adding(tensor) as sums:
            sums.reshape(-1)[:planes] += factor * added.sum(axis=(0, 2, 3))


def _parts(x: Array, count: Sizes, numbers: tuple[int, ...]) -> Iterator[Array]:
    """For each place in the kernel what lies under it, as an array of the windows."""
    kw, kh, dw, dh = numbers
    rows, columns = dh * (count[0] - 1) + 1, dw * (count[1] - 1) + 1
    for y in range(kh):
        for z in range(kw):
            yield x[..., y : y + rows : dh, z : z + columns : dw]


def _sums(x: Array, count: Sizes, numbers: tuple[int, ...]) -> Array:
    sums = np.zeros((*x.shape[:-2], *count), x.dtype)
    for part in _parts(x, count, numbers):
        sums += part
    return sums


def _checked(input: Tensor, weight: Tensor, numbers: tuple[int, ...]) -> tuple[int, Sizes]:
    """The number of planes, and of windows in each dimension."""
    check(input.ndim in (3, 4), 2, "3D or 4D input tensor expected but got: %s", input)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    if min(numbers) < 1 or weight.ndim < 1:
        raise TorchError("sizes and strides of windows should be greater than zero")
    kw, kh, dw, dh = numbers
    planes, (height, width) = weight.sizes[0], input.sizes[-2:]
    check(input.sizes[-3] == planes, 2, "invalid number of input planes")
    check(width >= kw and height >= kh, 2, "input image smaller than kernel size")
    return planes, ((height - kh) // dh + 1, (width - kw) // dw + 1)


def _check_count(name: str, tensor: Tensor, count: int) -> None:
    if tensor.nelement < count:
        raise TorchError(f"{count} elements of {name} expected, got {describe(tensor.sizes)}")


def _check_gradient(grad_output: Tensor, input: Tensor, count: Sizes) -> None:
    expected = (*input.sizes[:-2], *count)
    if grad_output.sizes != expected:
        raise TorchError(
            f"gradOutput of size {describe(expected)} expected, got {describe(grad_output.sizes)}"
        )
