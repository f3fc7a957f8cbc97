"""TemporalRowConvolution: each feature of a sequence has a kernel of its own.

Sequences have a row for each feature here (featFirst), or a row for each step in time. finput holds
what lies under the kernels: features x kW x places, of all samples.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides, describe
from runtime.thnn._convolution import Given, check_columns, check_found, count_places
from runtime.thnn.checks import check, check_size, positive
from runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_BUFFERS = "finput, fgradInput, int kW, int dW, int padW, bool featFirst"


@thnn(
    "TemporalRowConvolution_updateOutput",
    f"input, output, weight, bias?, {_BUFFERS}",
    repeats=False,
)
def forward(call: Call) -> None:
    """output = bias + the correlation of each row with its kernel."""
    input = _rows(call.input, call.featFirst)
    count = _checked(call)
    x, w = call.read(input), call.read(call.weight)
    b = None if call.bias is None else call.read(call.bias)
    _make_dense(call.finput, (*input.sizes[:-1], call.kW, count))
    _make_dense(call.output, (*input.sizes[:-1], count))
    columns, out = call.change(call.finput), call.change(call.output)
    for k in range(call.kW):
        columns[..., k, :] = _places(x, k, call.dW, count)
    np.matmul(w, columns, out=out[..., None, :])
    if b is not None:
        out += b[:, None]
    call.finish()
    _turn(call.output, call.featFirst)


@thnn(
    "TemporalRowConvolution_updateGradInput",
    f"{BACKWARD}, weight, {_BUFFERS}",
    repeats=False,
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    sizes = _rows(call.input, call.featFirst).sizes
    count = _checked(call)
    check_columns(call.finput, (*sizes[:-1], call.kW, count))
    g = call.read(_rows(call.gradOutput, call.featFirst))
    w = call.read(call.weight)
    _make_dense(call.fgradInput, (*sizes[:-1], call.kW, count))
    _make_dense(call.gradInput, sizes)
    columns, out = call.change(call.fgradInput), call.change(call.gradInput)
    np.multiply(w.transpose(0, 2, 1), g[..., None, :], out=columns)
    out[...] = 0
    for k in range(call.kW):
        places = _places(out, k, call.dW, count)
        places += columns[..., k, :]
    call.finish()
    _turn(call.gradInput, call.featFirst)


@thnn(
    "TemporalRowConvolution_accGradParameters",
    f"{GRADIENTS}?, {_BUFFERS}, accreal scale",
    repeats=False,
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    sizes = _rows(call.input, call.featFirst).sizes
    count = _checked(call)
    check_columns(call.finput, (*sizes[:-1], call.kW, count))
    g = call.read(_rows(call.gradOutput, call.featFirst)).reshape(-1, sizes[-2], count)
    columns = call.read(call.finput).reshape(-1, sizes[-2], call.kW, count)
    factor = g.dtype.type(cast_scalar(call.scale, call.gradWeight.dtype))
    out = call.change(call.gradWeight)
    out += factor * np.matmul(g[..., None, :], columns.transpose(0, 1, 3, 2)).sum(axis=0)
    if call.gradBias is not None:
        biases = call.change(call.gradBias)
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


def _checked(call: Call) -> int:
    """The number of places. Torch7: padding adds places, at which it reads beyond the rows."""
    given, width, step = Given.to(call), call.kW, call.dW
    input, weight = _rows(given.input, call.featFirst), given.weight
    positive(5, "kernel size", "k", (width,))
    positive(6, "stride", "d", (step,))
    check(weight.ndim == 3, 3, "3D weight tensor expected, but got: %s", weight)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    features = weight.sizes[0]
    if given.bias is not None:
        check(given.bias.is_contiguous, 5, "bias must be contiguous")
        check_size("bias", given.bias, 1, 0, features)
    message = "2D or 3D (batch mode) input tensor expected, but got :%s"
    check(input.ndim in (2, 3), 1, message, input)
    length = input.sizes[-1]
    (count,) = count_places((length,), (width,), (step,), (call.padW,), (1,))
    check_found((length,), (count,), features, features)
    check_size("input", input, input.ndim, input.ndim - 2, features)
    if given.grad_output is not None:
        grad_output = _rows(given.grad_output, call.featFirst)
        for dim, size in enumerate((features, count), input.ndim - 2):
            check_size("gradOutput", grad_output, input.ndim, dim, size)
        if grad_output.sizes[:-2] != input.sizes[:-2]:
            raise TorchError("gradOutput and input have different numbers of samples")
    if weight.sizes[1:] != (1, width):
        raise TorchError(f"weight of kernels 1 x {width} expected, got {describe(weight.sizes)}")
    if (count - 1) * step + width > length:
        raise TorchError(f"{count} places of the kernel do not fit into {length} frames")
    return count
