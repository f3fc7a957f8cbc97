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
from runtime.thnn._geometry import Windows
from runtime.thnn._jobs import adding, read, writing
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_NUMBERS = "int dT, int dW, int dH, int pT, int pW, int pH"
_WEIGHT = "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for {}, but got: %s"


@thnn(
    "VolumetricConvolution_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput, "
    f"THTensor *fgradInput, {_NUMBERS}",
)
def forward(call: Call) -> None:
    """output = bias + the correlation of input's planes with weight."""
    stride = _stride(call.numbers)
    message = "4D or 5D (batch mode) tensor expected for input, but got: %s"
    check(call.input.ndim in (4, 5), 2, message, call.input)
    check(call.weight.ndim == 5, 4, "kernel: 5D Tensor expected")
    windows = _windows(call.input.sizes[-3:], call.weight.sizes[2:], stride, "conv3Dmv")
    maps, planes = call.weight.sizes[:2]
    check(call.input.sizes[-4] == planes, 2, "invalid number of input planes")
    if call.bias is not None and call.bias.sizes != (maps,):
        raise TorchError(f"bias of {maps} elements expected, got {describe(call.bias.sizes)}")
    x, w = (read(t, call.output) for t in (call.input, call.weight))
    b = None if call.bias is None else read(call.bias, call.output)
    memory = np.empty((planes * windows.taps, windows.places), x.dtype)
    with writing((call.output, (*call.input.sizes[:-4], maps, *windows.count))) as (out,):
        x, out = x.reshape(-1, planes, *windows.size), out.reshape(-1, maps, windows.places)
        _columns.correlate(windows, x, w.reshape(maps, -1), b, out, memory)


@thnn(
    "VolumetricConvolution_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *finput, {_NUMBERS}",
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight.

    Torch7: for a single volume it has the size that windows cover.
    """
    stride = _stride(call.numbers)
    check(call.weight.ndim == 5, 4, _WEIGHT.format("weight"), call.weight)
    message = "4D or 5D (batch mode) tensor expected for gradOutput, but got: %s"
    check(call.gradOutput.ndim in (4, 5), 3, message, call.gradOutput)
    maps, planes = call.weight.sizes[:2]
    _check_maps(call.gradOutput, maps)
    count, kernel = call.gradOutput.sizes[-3:], call.weight.sizes[2:]
    size = tuple((n - 1) * s + k for n, s, k in zip(count, stride, kernel, strict=True))
    windows = Windows.of(size, kernel, stride, (0, 0, 0), (1, 1, 1), count)
    sizes = (*call.gradOutput.sizes[:-4], planes, *size)
    if call.gradOutput.ndim == 5 and call.input.sizes != sizes:
        raise TorchError(
            f"input of size {describe(sizes)} expected, got {describe(call.input.sizes)}"
        )
    g, w = (read(t, call.gradInput) for t in (call.gradOutput, call.weight))
    memory = np.empty((planes * windows.taps, windows.places), g.dtype)
    with writing((call.gradInput, sizes)) as (out,):
        g, out = g.reshape(-1, maps, windows.places), out.reshape(-1, planes, *size)
        _columns.spread(windows, g, w.reshape(maps, -1), None, out, memory)


@thnn(
    "VolumetricConvolution_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    stride = _stride(call.numbers)
    check(call.gradWeight.ndim == 5, 4, _WEIGHT.format("gradWeight"), call.gradWeight)
    maps, planes = call.gradWeight.sizes[:2]
    if call.gradBias is not None:
        check(call.gradBias.sizes == (maps,), 5, "gradBias tensor has wrong size")
    check(call.gradOutput.ndim in (4, 5), 4, "kernel: 4D Tensor expected")
    _check_maps(call.gradOutput, maps)
    check(call.input.ndim == call.gradOutput.ndim, 3, "input: 4D Tensor expected")
    windows = _windows(
        call.input.sizes[-3:], call.gradWeight.sizes[2:], stride, "conv3DRevger", True
    )
    expected = (*call.input.sizes[:-4], maps, *windows.count)
    if call.gradOutput.sizes != expected or call.input.sizes[-4] != planes:
        raise TorchError(
            f"gradOutput of size {describe(expected)}, and {planes} planes of input expected, got "
            f"{describe(call.gradOutput.sizes)} and {describe(call.input.sizes)}"
        )
    results = (call.gradWeight,) if call.gradBias is None else (call.gradWeight, call.gradBias)
    x = read(call.input, *results).reshape(-1, planes, *windows.size)
    g = read(call.gradOutput, *results).reshape(len(x), maps, windows.places)
    factor = cast_scalar(call.scale, call.gradWeight.dtype)
    memory = np.empty((planes * windows.taps, windows.places), x.dtype)
    with adding(call.gradWeight) as out:
        _columns.weigh(windows, x, g, out.reshape(maps, -1), factor, memory)
    if call.gradBias is not None:
        with adding(call.gradBias) as sums:
            _columns.add_sums(sums, g, call.scale)


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
