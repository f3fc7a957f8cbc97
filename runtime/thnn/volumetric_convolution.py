"""VolumetricConvolution, as it is without a graphics card.

Torch7: nn's module of that name calls VolumetricConvolutionMM. This function wants a padding that
is not 0, and takes no account of it.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn import _columns
from runtime.thnn._convolution import adding, read, writing
from runtime.thnn._geometry import Windows
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

_NUMBERS = "int dT, int dW, int dH, int pT, int pW, int pH"
_WEIGHT = "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for {}, but got: %s"


@thnn(
    "VolumetricConvolution_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput, "
    f"THTensor *fgradInput, {_NUMBERS}",
)
def forward(
    input: Tensor,
    output: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    _: Tensor,
    __: Tensor,
    *numbers: int,
) -> None:
    """output = bias + the correlation of input's planes with weight."""
    stride = _stride(numbers)
    message = "4D or 5D (batch mode) tensor expected for input, but got: %s"
    check(input.ndim in (4, 5), 2, message, input)
    check(weight.ndim == 5, 4, "kernel: 5D Tensor expected")
    windows = _windows(input.sizes[-3:], weight.sizes[2:], stride, "conv3Dmv")
    maps, planes = weight.sizes[:2]
    check(input.sizes[-4] == planes, 2, "invalid number of input planes")
    if bias is not None and bias.sizes != (maps,):
        raise TorchError(f"bias of {maps} elements expected, got {describe(bias.sizes)}")
    x, w = (read(t, output) for t in (input, weight))
    b = None if bias is None else read(bias, output)
    memory = np.empty((planes * windows.taps, windows.places), x.dtype)
    with writing((output, (*input.sizes[:-4], maps, *windows.count))) as (out,):
        x, out = x.reshape(-1, planes, *windows.size), out.reshape(-1, maps, windows.places)
        _columns.correlate(windows, x, w.reshape(maps, -1), b, out, memory)


@thnn(
    "VolumetricConvolution_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *finput, {_NUMBERS}",
)
def backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    weight: Tensor,
    _: Tensor,
    *numbers: int,
) -> None:
    """gradInput from gradOutput and weight.

    Torch7: for a single volume it has the size that windows cover.
    """
    stride = _stride(numbers)
    check(weight.ndim == 5, 4, _WEIGHT.format("weight"), weight)
    message = "4D or 5D (batch mode) tensor expected for gradOutput, but got: %s"
    check(grad_output.ndim in (4, 5), 3, message, grad_output)
    maps, planes = weight.sizes[:2]
    _check_maps(grad_output, maps)
    count, kernel = grad_output.sizes[-3:], weight.sizes[2:]
    size = tuple((n - 1) * s + k for n, s, k in zip(count, stride, kernel, strict=True))
    windows = Windows.of(size, kernel, stride, (0, 0, 0), (1, 1, 1), count)
    sizes = (*grad_output.sizes[:-4], planes, *size)
    if grad_output.ndim == 5 and input.sizes != sizes:
        raise TorchError(f"input of size {describe(sizes)} expected, got {describe(input.sizes)}")
    g, w = (read(t, gradient) for t in (grad_output, weight))
    memory = np.empty((planes * windows.taps, windows.places), g.dtype)
    with writing((gradient, sizes)) as (out,):
        g, out = g.reshape(-1, maps, windows.places), out.reshape(-1, planes, *size)
        _columns.spread(windows, g, w.reshape(maps, -1), None, out, memory)


@thnn(
    "VolumetricConvolution_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}, accreal scale",
)
def accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor | None,
    _: Tensor,
    __: Tensor,
    *given: float,
) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    *numbers, scale = given
    stride = _stride(tuple(map(int, numbers)))
    check(grad_weight.ndim == 5, 4, _WEIGHT.format("gradWeight"), grad_weight)
    maps, planes = grad_weight.sizes[:2]
    if grad_bias is not None:
        check(grad_bias.sizes == (maps,), 5, "gradBias tensor has wrong size")
    check(grad_output.ndim in (4, 5), 4, "kernel: 4D Tensor expected")
    _check_maps(grad_output, maps)
    check(input.ndim == grad_output.ndim, 3, "input: 4D Tensor expected")
    windows = _windows(input.sizes[-3:], grad_weight.sizes[2:], stride, "conv3DRevger", True)
    expected = (*input.sizes[:-4], maps, *windows.count)
    if grad_output.sizes != expected or input.sizes[-4] != planes:
        raise TorchError(
            f"gradOutput of size {describe(expected)}, and {planes} planes of input expected, got "
            f"{describe(grad_output.sizes)} and {describe(input.sizes)}"
        )
    results = (grad_weight,) if grad_bias is None else (grad_weight, grad_bias)
    x = read(input, *results).reshape(-1, planes, *windows.size)
    g = read(grad_output, *results).reshape(len(x), maps, windows.places)
    factor = cast_scalar(scale, grad_weight.dtype)
    memory = np.empty((planes * windows.taps, windows.places), x.dtype)
    with adding(grad_weight) as out:
        _columns.weigh(windows, x, g, out.reshape(maps, -1), factor, memory)
    if grad_bias is not None:
        _columns.add_sums(grad_bias.array, g, factor)


def _stride(numbers: tuple[int, ...]) -> Sizes:
    dt, dw, dh, *padding = numbers
    check(any(padding), 9, "padding not supported by CPU backend")
    for position, stride in enumerate((dt, dh, dw), 5):
        check(stride >= 1, position, "Stride should be a positive integer")
    return dt, dh, dw


def _check_maps(grad_output: Tensor, maps: int) -> None:
    message = "Number of output features is not equal to nOutputPlane"
    check(grad_output.sizes[-4] == maps, 1, message)


def _windows(size: Sizes, kernel: Sizes, stride: Sizes, name: str, exact: bool = False) -> Windows:
    """exact: whether a rest of the volume that no window reaches is an error.

    Torch7: gradWeight is resized then.
    """
    numbers = list(zip(size, kernel, stride, strict=True))
    check(all(n >= k for n, k, _ in numbers), 2, f"{name} : Input image is smaller than kernel")
    if exact and any((n - k) % s for n, k, s in numbers):
        raise TorchError(f"windows do not cover the input of size {describe(size)}")
    count = tuple((n - k) // s + 1 for n, k, s in numbers)
    return Windows.of(size, kernel, stride, (0, 0, 0), (1, 1, 1), count)
