"""Layers of sequences: TemporalConvolution and TemporalSubSampling.

A sequence has a frame for each step in time. A window is ``kW`` frames, each window begins ``dW``
frames after the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.compute.blas_threads import check_room
from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn.checks import check, check_batch, check_size, positive
from runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

#: Bytes of windows that are copied at a time.
_WINDOWS = 1 << 22


def _frames(x: Array, k: int, step: int, count: int) -> Array:
    """The frame number k of each of so many windows: of the last but one dimension of x."""
    return x[..., k : k + step * (count - 1) + 1 : step, :]


def _factor(call: Call) -> Any:
    """The scale, in the elements' type."""
    return call.input.dtype.numpy.type(cast_scalar(call.scale, call.input.dtype))


# -- TemporalConvolution


@thnn(
    "TemporalConvolution_updateOutput",
    "input, output, weight, bias, int kW, int dW, int inputFrameSize, int outputFrameSize",
    repeats=False,
)
def forward(call: Call) -> None:
    """output = bias + weight times the frames of each window."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    count = _count(call.input, call.kW, call.dW, call.inputFrameSize)
    _check_weight(call.weight, call.input, call.kW, call.dW)
    size = call.outputFrameSize
    if call.weight.sizes[0] != size or call.bias.nelement != size:
        raise TorchError(
            f"inconsistent tensor size, expected {size} output frames, got weight "
            f"{describe(call.weight.sizes)} and bias {describe(call.bias.sizes)}"
        )
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    x = x.reshape(-1, *x.shape[-2:])
    out = call.write(call.output, (*call.input.sizes[:-2], count, size))
    out = out.reshape(len(x), count, size)

    def compute(at: slice) -> None:
        windows = _windows(x[at], call.kW, call.dW, count)
        part = out[at].reshape(len(windows), size)
        np.matmul(windows, w.T, out=part)
        part += b.reshape(-1)

    _share(compute, x, count, w)


@thnn(
    "TemporalConvolution_updateGradInput",
    f"{BACKWARD}, weight, int kW, int dW",
    repeats=False,
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    count = _count(call.input, call.kW, call.dW, None)
    _check_weight(call.weight, call.input, call.kW, call.dW)
    _check_gradient(call.gradOutput, call.input, call.weight.sizes[0], count)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    g = g.reshape(-1, *g.shape[-2:])
    out = call.write(call.gradInput, call.input.sizes)
    out[...] = 0
    out = out.reshape(-1, *out.shape[-2:])

    def compute(at: slice) -> None:
        products = np.matmul(g[at].reshape(-1, g.shape[-1]), w)
        products = products.reshape(-1, count, call.kW, out.shape[-1])
        for k in range(call.kW):
            frames = _frames(out[at], k, call.dW, count)
            frames += products[:, :, k]

    _share(compute, out, count, w)


@thnn(
    "TemporalConvolution_accGradParameters",
    f"{GRADIENTS}, int kW, int dW, accreal scale",
    repeats=False,
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    count = _count(call.input, call.kW, call.dW, None)
    _check_weight(call.gradWeight, call.input, call.kW, call.dW)
    _check_gradient(call.gradOutput, call.input, call.gradWeight.sizes[0], count)
    if call.gradBias.nelement != call.gradWeight.sizes[0]:
        raise TorchError(
            f"inconsistent tensor size, gradWeight {describe(call.gradWeight.sizes)}, gradBias "
            f"{describe(call.gradBias.sizes)}"
        )
    x, g = call.read(call.input), call.read(call.gradOutput)
    x, g = x.reshape(-1, *x.shape[-2:]), g.reshape(-1, *g.shape[-2:])
    factor = _factor(call)
    weights, biases = call.change(call.gradWeight), call.change(call.gradBias)
    piece = _piece(x, count, call.gradWeight.sizes[1])
    for first in range(0, len(x), piece):
        at = slice(first, first + piece)
        windows = _windows(x[at], call.kW, call.dW, count)
        weights += factor * np.matmul(g[at].reshape(len(windows), -1).T, windows)
    biases += factor * g.sum(axis=(0, 1)).reshape(biases.shape)


def _share(compute: Callable[[slice], None], x: Array, count: int, weight: Array) -> None:
    """Call compute for slices of the samples, by several threads where there is much to do."""
    much = len(x) * count * weight.size // 10 >= LARGE
    piece = _piece(x, count, weight.shape[1])
    share(compute, len(x), piece=piece, large=2 if much else len(x) + 1)


def _piece(x: Array, count: int, size: int) -> int:
    """Of how many samples the windows, of ``size`` elements, do not take too much memory."""
    check_room(1)
    return max(_WINDOWS // (count * size * x.itemsize), 1)


def _windows(x: Array, width: int, step: int, count: int) -> Array:
    """The windows of some contiguous samples, one in a row: a copy."""
    samples, frames, each = x.shape
    windows = np.lib.stride_tricks.sliding_window_view(
        x.reshape(samples, frames * each), width * each, axis=1
    )[:, :: step * each][:, :count]
    return windows.reshape(samples * count, -1)


def _count(input: Tensor, width: int, step: int, frame: int | None) -> int:
    """How many windows a sequence has."""
    positive(9, "kernel size", "k", (width,))
    positive(11, "stride", "d", (step,))
    check_batch(input, 1)
    length, size = input.sizes[-2:]
    if frame is not None:
        check(size == frame, 2, f"invalid input frame size. Got: {size}, Expected: {frame}")
    message = f"input sequence smaller than kernel size. Got: {length}, Expected: {width}"
    check(length >= width, 2, message)
    return (length - width) // step + 1


def _check_weight(weight: Tensor, input: Tensor, width: int, step: int) -> None:
    if weight.ndim != 2 or weight.sizes[1] != width * input.sizes[-1]:
        # The reference multiplies windows that do not overlap first.
        apart = ((width - 1) // step + 1) * step
        windows = ((input.sizes[-2] - width) // apart + 1, width * input.sizes[-1])
        raise TorchError(
            f"size mismatch, m1: {describe(windows)}, m2: {describe(weight.sizes[::-1])}"
        )


def _check_gradient(grad_output: Tensor, input: Tensor, frame: int, count: int) -> None:
    expected = (*input.sizes[:-2], count, frame)
    if grad_output.sizes != expected:
        raise TorchError(
            f"gradOutput of size {describe(expected)} expected, got {describe(grad_output.sizes)}"
        )


# -- TemporalSubSampling


@thnn(
    "TemporalSubSampling_updateOutput",
    "input, output, weight, bias, int kW, int dW, int inputFrameSize",
    repeats=False,
)
def sample(call: Call) -> None:
    """output = bias + weight * the sums of the frames of each window."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 4, "bias must be contiguous")
    count = _count_samples(call.input, None, call.kW, call.dW, call.inputFrameSize)
    _check_frame(call.inputFrameSize, weight=call.weight, bias=call.bias)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    out = call.write(call.output, (count, call.inputFrameSize))
    np.multiply(_sums(x, call.kW, call.dW, count), w.reshape(-1), out=out)
    out += b.reshape(-1)


@thnn(
    "TemporalSubSampling_updateGradInput",
    f"{BACKWARD}, weight, int kW, int dW",
    repeats=False,
)
def sample_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    count = _count_samples(call.input, call.gradOutput, call.kW, call.dW, None)
    _check_frame(call.input.sizes[1], weight=call.weight)
    check_size("gradOutput", call.gradOutput, 2, 1, call.input.sizes[1])
    products = call.read(call.gradOutput) * call.read(call.weight).reshape(-1)
    out = call.write(call.gradInput, call.input.sizes)
    out[...] = 0
    for k in range(call.kW):
        frames = _frames(out, k, call.dW, count)
        frames += products


@thnn(
    "TemporalSubSampling_accGradParameters",
    f"{GRADIENTS}, int kW, int dW, accreal scale",
    repeats=False,
)
def sample_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    count = _count_samples(call.input, call.gradOutput, call.kW, call.dW, None)
    _check_frame(call.input.sizes[1], gradWeight=call.gradWeight, gradBias=call.gradBias)
    check_size("gradOutput", call.gradOutput, 2, 1, call.input.sizes[1])
    x, g = call.read(call.input), call.read(call.gradOutput)
    products = _sums(x, call.kW, call.dW, count) * g
    for tensor, added in ((call.gradWeight, products), (call.gradBias, g)):
        sums = call.change(tensor)
        sums += (_factor(call) * added.sum(axis=0)).reshape(sums.shape)


def _sums(x: Array, width: int, step: int, count: int) -> Array:
    sums: Array = _frames(x, 0, step, count).copy()
    for k in range(1, width):
        sums += _frames(x, k, step, count)
    return sums


def _check_frame(size: int, **tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.nelement != size:
            raise TorchError(
                f"inconsistent tensor size, expected {name} {describe(tensor.sizes)} to have "
                f"{size} elements"
            )


def _count_samples(
    input: Tensor, grad_output: Tensor | None, width: int, step: int, frame: int | None
) -> int:
    positive(6, "kernel size", "k", (width,))
    positive(7, "stride", "d", (step,))
    message = "2D or 3D (batch mode) tensor expected for input, but got: %s"
    check(input.ndim == 2, 2, message, input)
    length, size = input.sizes
    if frame is not None:
        check(size == frame, 2, f"invalid input frame size.  Got: {size}, Expected: {frame}")
    message = f"input sequence smaller than kernel size.  Got {length}, Expected: {width}"
    check(length >= width, 2, message)
    count = (length - width) // step + 1
    if grad_output is not None:
        check_size("gradOutput", grad_output, 2, 0, count)
    return count
