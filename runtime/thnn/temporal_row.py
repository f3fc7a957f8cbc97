"""TemporalRowConvolution: each feature of a sequence has a kernel of its own.

Sequences have a row for each feature here (featFirst), or a row for each step in time. finput holds
what lies under the kernels: features x kW x places, of all samples.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides, describe
from runtime.thnn._convolution import check_columns, check_positive, count_places, too_small
from runtime.thnn._jobs import adding, read
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn

_NUMBERS = "int kW, int dW, int padW, bool featFirst"


@thnn(
    "TemporalRowConvolution_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput, "
    f"THTensor *fgradInput, {_NUMBERS}",
)
def forward(call: Call) -> None:
    """output = bias + the correlation of each row with its kernel."""
    input = call.input
    input = _rows(input, call.featFirst)
    count = _checked(input, None, call.weight, call.bias, (call.kW, call.dW, call.padW))
    results = (call.output, call.finput)
    x, w = read(input, *results), read(call.weight, *results)
    b = None if call.bias is None else read(call.bias, *results)
    _make_dense(call.finput, (*input.sizes[:-1], call.kW, count))
    _make_dense(call.output, (*input.sizes[:-1], count))
    columns, out = call.finput.array, call.output.array
    for k in range(call.kW):
        columns[..., k, :] = _places(x, k, call.dW, count)
    np.matmul(w, columns, out=out[..., None, :])
    if b is not None:
        out += b[:, None]
    _turn(call.output, call.featFirst)


@thnn(
    "TemporalRowConvolution_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}",
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    input, grad_output = call.input, call.gradOutput
    input, grad_output = _rows(input, call.featFirst), _rows(grad_output, call.featFirst)
    count = _checked(input, grad_output, call.weight, None, (call.kW, call.dW, call.padW))
    sizes = input.sizes
    check_columns(call.finput, (*sizes[:-1], call.kW, count))
    g, w = (read(t, call.gradInput, call.fgradInput) for t in (grad_output, call.weight))
    _make_dense(call.fgradInput, (*sizes[:-1], call.kW, count))
    _make_dense(call.gradInput, sizes)
    columns, out = call.fgradInput.array, call.gradInput.array
    np.multiply(w.transpose(0, 2, 1), g[..., None, :], out=columns)
    out[...] = 0
    for k in range(call.kW):
        places = _places(out, k, call.dW, count)
        places += columns[..., k, :]
    _turn(call.gradInput, call.featFirst)


@thnn(
    "TemporalRowConvolution_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    input, grad_output = call.input, call.gradOutput
    input, grad_output = _rows(input, call.featFirst), _rows(grad_output, call.featFirst)
    count = _checked(
        input, grad_output, call.gradWeight, call.gradBias, (call.kW, call.dW, call.padW)
    )
    check_columns(call.finput, (*input.sizes[:-1], call.kW, count))
    results = (call.gradWeight,) if call.gradBias is None else (call.gradWeight, call.gradBias)
    g, columns = (read(t, *results) for t in (grad_output, call.finput))
    g, columns = g.reshape(-1, *g.shape[-2:]), columns.reshape(-1, *columns.shape[-3:])
    factor = g.dtype.type(cast_scalar(call.scale, call.gradWeight.dtype))
    with adding(call.gradWeight) as out:
        sums = np.matmul(g[..., None, :], columns.transpose(0, 1, 3, 2)).sum(axis=0)
        out += factor * sums
    if call.gradBias is not None:
        with adding(call.gradBias) as biases:
            biases += factor * g.sum(axis=(0, 2))


def _places(x: Array, k: int, step: int, count: int) -> Array:
    """What lies under element k of a kernel at each of so many places."""
    return x[..., k : k + step * (count - 1) + 1 : step]


def _rows(tensor: Tensor, by_features: bool) -> Tensor:
    """The sequence with a row for each feature."""
    return tensor if by_features else tensor.transpose(tensor.ndim - 1, tensor.ndim - 2)


def _make_dense(tensor: Tensor, sizes: Sizes) -> None:
    """Give a tensor, which may be one that `_turn` has turned, sizes, and make it contiguous."""
    tensor.resize(sizes)
    if not tensor.is_contiguous:
        tensor.set_checked(tensor.storage, tensor.offset, sizes, contiguous_strides(sizes))


def _turn(tensor: Tensor, by_features: bool) -> None:
    """Let a result, with a row for each feature, have one for each step again."""
    turned = _rows(tensor, by_features)
    tensor.set(turned.storage, turned.offset, turned.sizes, turned.strides)


def _checked(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: tuple[int, int, int],
) -> int:
    """The number of places. Torch7: padding adds places, at which it reads beyond the rows."""
    width, step, padding = numbers
    check_positive(5, "kernel size", kW=width)
    check_positive(6, "stride", dW=step)
    check(weight.ndim == 3, 3, "3D weight tensor expected, but got: %s", weight)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    features = weight.sizes[0]
    if bias is not None:
        check(bias.is_contiguous, 5, "bias must be contiguous")
        check_size("bias", bias, 1, 0, features)
    message = "2D or 3D (batch mode) input tensor expected, but got :%s"
    check(input.ndim in (2, 3), 1, message, input)
    length = input.sizes[-1]
    (count,) = count_places((length,), (width,), (step,), (padding,), (1,))
    if count < 1:
        raise too_small((features, length), (features, count))
    check_size("input", input, input.ndim, input.ndim - 2, features)
    if grad_output is not None:
        for dim, size in enumerate((features, count), input.ndim - 2):
            check_size("gradOutput", grad_output, input.ndim, dim, size)
        if grad_output.sizes[:-2] != input.sizes[:-2]:
            raise TorchError("gradOutput and input have different numbers of samples")
    if weight.sizes[1:] != (1, width):
        raise TorchError(f"weight of kernels 1 x {width} expected, got {describe(weight.sizes)}")
    if (count - 1) * step + width > length:
        raise TorchError(f"{count} places of the kernel do not fit into {length} frames")
    return count
