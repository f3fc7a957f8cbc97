"""VolumetricConvolution, as it is without a graphics card.

Torch7: nn's module of that name calls VolumetricConvolutionMM. This function wants a padding that
is not 0, and takes no account of it.
"""

from __future__ import annotations

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn._convolution import (
    Columns,
    Shape,
    accumulate,
    covering_windows,
    expand,
    plain_windows,
    reduce,
)
from th_shell.runtime.thnn._windows import Windows
from th_shell.runtime.thnn.checks import check, check_batch
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_NUMBERS = "int dT, int dW, int dH, int pT, int pW, int pH"
_WEIGHT = "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for {}, but got: %s"


@thnn(
    "VolumetricConvolution_updateOutput",
    f"input, output, weight, bias?, finput, fgradInput, {_NUMBERS}",
)
def forward(call: Call) -> None:
    """output = bias + the correlation of input's planes with weight."""
    stride = _stride(call.numbers)
    check_batch(call.input, 3)
    check(call.weight.ndim == 5, 4, "kernel: 5D Tensor expected")
    windows = _windows(call, call.weight, stride, "conv3Dmv")
    maps, planes = call.weight.sizes[:2]
    check(call.input.sizes[-4] == planes, 2, "invalid number of input planes")
    if call.bias is not None and call.bias.sizes != (maps,):
        raise TorchError(f"bias of {maps} elements expected, got {describe(call.bias.sizes)}")
    shape = Shape(call.input.sizes[:-4], planes, maps, windows.size, windows.count, windows)
    reduce(call, shape, call.input, call.output, Columns())


@thnn("VolumetricConvolution_updateGradInput", f"{BACKWARD}, weight, finput, {_NUMBERS}")
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
    (*batch, _, t, h, w), kernel = call.gradOutput.sizes, call.weight.sizes[2:]
    windows = covering_windows((t, h, w), kernel, stride)
    shape = Shape(tuple(batch), planes, maps, windows.size, windows.count, windows)
    sizes = (*batch, planes, *windows.size)
    if batch and call.input.sizes != sizes:
        raise TorchError(
            f"input of size {describe(sizes)} expected, got {describe(call.input.sizes)}"
        )
    expand(call, shape, call.gradOutput, call.gradInput, Columns())


@thnn(
    "VolumetricConvolution_accGradParameters",
    f"{GRADIENTS}?, finput, fgradInput, {_NUMBERS}, accreal scale",
)
def gradients(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    stride = _stride(call.numbers)
    check(call.gradWeight.ndim == 5, 4, _WEIGHT.format("gradWeight"), call.gradWeight)
    maps, planes = call.gradWeight.sizes[:2]
    if call.gradBias is not None:
        check(call.gradBias.sizes == (maps,), 5, "gradBias tensor has wrong size")
    check(call.gradOutput.ndim in (4, 5), 4, "kernel: 4D Tensor expected")
    _check_maps(call.gradOutput, maps)
    check(call.input.ndim == call.gradOutput.ndim, 3, "input: 4D Tensor expected")
    windows = _windows(call, call.gradWeight, stride, "conv3DRevger", exact=True)
    expected = (*call.input.sizes[:-4], maps, *windows.count)
    if call.gradOutput.sizes != expected or call.input.sizes[-4] != planes:
        raise TorchError(
            f"gradOutput of size {describe(expected)}, and {planes} planes of input expected, got "
            f"{describe(call.gradOutput.sizes)} and {describe(call.input.sizes)}"
        )
    shape = Shape(call.input.sizes[:-4], planes, maps, windows.size, windows.count, windows)
    accumulate(call, shape, Columns())


def _stride(numbers: tuple[int, ...]) -> Sizes:
    dt, dw, dh, *padding = numbers
    check(any(padding), 9, "padding not supported by CPU backend")
    for position, stride in enumerate((dt, dh, dw), 5):
        check(stride >= 1, position, "Stride should be a positive integer")
    return dt, dh, dw


def _check_maps(grad_output: Tensor, maps: int) -> None:
    message = "Number of output features is not equal to nOutputPlane"
    check(grad_output.sizes[-4] == maps, 1, message)


def _windows(call: Call, weight: Tensor, stride: Sizes, name: str, exact: bool = False) -> Windows:
    size, kernel = call.input.sizes[-3:], weight.sizes[2:]
    fits = all(n >= k for n, k in zip(size, kernel, strict=True))
    check(fits, 2, f"{name} : Input image is smaller than kernel")
    return plain_windows(size, kernel, stride, exact)
