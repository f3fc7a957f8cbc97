"""Convolutions of sequences: TemporalConvolution, TemporalRowConvolution, TemporalSubSampling.

A sequence has a frame for each step in time. A window is ``kW`` frames, each window begins ``dW``
frames after the one before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.compute.blas_threads import check_room
from runtime.compute.thread_pool import share
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn._convolution import adding, check_positive, read, writing
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import thnn

#: Bytes of windows that are copied at a time.
_WINDOWS = 1 << 22
#: Multiplications from which on work is shared out.
_LARGE = 1_000_000


def _frames(x: Array, k: int, step: int, count: int) -> Array:
    """The frame number k of each of so many windows: of the last but one dimension of x."""
    return x[..., k : k + step * (count - 1) + 1 : step, :]


# -- TemporalConvolution


@thnn(
    "TemporalConvolution_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int kW, int dW, "
    "int inputFrameSize, int outputFrameSize",
)
def forward(
    input: Tensor,
    output: Tensor,
    weight: Tensor,
    bias: Tensor,
    width: int,
    step: int,
    frame: int,
    out_frame: int,
) -> None:
    """output = bias + weight times the frames of each window."""
    check(weight.is_contiguous, 4, "weight must be contiguous")
    check(bias.is_contiguous, 5, "bias must be contiguous")
    count = _count(input, width, step, frame)
    _check_weight(weight, input, width, step)
    if weight.sizes[0] != out_frame or bias.nelement != out_frame:
        raise TorchError(
            f"inconsistent tensor size, expected {out_frame} output frames, got weight "
            f"{describe(weight.sizes)} and bias {describe(bias.sizes)}"
        )
    x, w, b = (read(t, output) for t in (input, weight, bias))
    x = x.reshape(-1, *x.shape[-2:])
    with writing((output, (*input.sizes[:-2], count, out_frame))) as (out,):
        out = out.reshape(len(x), count, out_frame)

        def compute(at: slice) -> None:
            windows = _windows(x[at], width, step, count)
            part = out[at].reshape(len(windows), out_frame)
            np.matmul(windows, w.T, out=part)
            part += b.reshape(-1)

        _share(compute, x, count, w)


@thnn(
    "TemporalConvolution_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int kW, int dW",
)
def backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, weight: Tensor, width: int, step: int
) -> None:
    """gradInput from gradOutput and weight."""
    check(weight.is_contiguous, 4, "weight must be contiguous")
    count = _count(input, width, step, None)
    _check_weight(weight, input, width, step)
    _check_gradient(grad_output, input, weight.sizes[0], count)
    g, w = read(grad_output, gradient), read(weight, gradient)
    g = g.reshape(-1, *g.shape[-2:])
    with writing((gradient, input.sizes)) as (out,):
        out[...] = 0
        out = out.reshape(-1, *out.shape[-2:])
        frame = out.shape[-1]

        def compute(at: slice) -> None:
            products = np.matmul(g[at].reshape(-1, g.shape[-1]), w)
            products = products.reshape(-1, count, width, frame)
            for k in range(width):
                frames = _frames(out[at], k, step, count)
                frames += products[:, :, k]

        _share(compute, out, count, w)


@thnn(
    "TemporalConvolution_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int kW, "
    "int dW, accreal scale",
)
def accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    width: int,
    step: int,
    scale: float,
) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    count = _count(input, width, step, None)
    _check_weight(grad_weight, input, width, step)
    _check_gradient(grad_output, input, grad_weight.sizes[0], count)
    if grad_bias.nelement != grad_weight.sizes[0]:
        raise TorchError(
            f"inconsistent tensor size, gradWeight {describe(grad_weight.sizes)}, gradBias "
            f"{describe(grad_bias.sizes)}"
        )
    x, g = (read(t, grad_weight, grad_bias) for t in (input, grad_output))
    x, g = x.reshape(-1, *x.shape[-2:]), g.reshape(-1, *g.shape[-2:])
    factor = x.dtype.type(cast_scalar(scale, grad_weight.dtype))
    with adding(grad_weight) as weights, adding(grad_bias) as biases:
        piece = _piece(x, count, grad_weight.sizes[1])
        for first in range(0, len(x), piece):
            at = slice(first, first + piece)
            windows = _windows(x[at], width, step, count)
            weights += factor * np.matmul(g[at].reshape(len(windows), -1).T, windows)
        biases += factor * g.sum(axis=(0, 1)).reshape(biases.shape)


def _share(compute: Callable[[slice], None], x: Array, count: int, weight: Array) -> None:
    """Call compute for slices of the samples, by several threads where there is much to do."""
    much = len(x) * count * weight.size >= _LARGE
    piece = _piece(x, count, weight.shape[1])
    share(compute, len(x), piece=piece, large=2 if much else len(x) + 1)


def _piece(x: Array, count: int, size: int) -> int:
    """Of how many samples the windows, of ``size`` elements, do not take too much memory."""
    check_room(1)
    return max(_WINDOWS // (count * size * x.itemsize), 1)


def _windows(x: Array, width: int, step: int, count: int) -> Array:
    """The windows of some samples, one in a row."""
    windows = np.empty((len(x), count, width, x.shape[-1]), x.dtype)
    for k in range(width):
        windows[:, :, k] = _frames(x, k, step, count)
    return windows.reshape(len(x) * count, -1)


def _count(input: Tensor, width: int, step: int, frame: int | None) -> int:
    """How many windows a sequence has."""
    check_positive(9, "kernel size", kW=width)
    check_positive(11, "stride", dW=step)
    message = "2D or 3D (batch mode) tensor expected for input, but got: %s"
    check(input.ndim in (2, 3), 2, message, input)
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
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int kW, int dW, "
    "int inputFrameSize",
)
def sample(
    input: Tensor,
    output: Tensor,
    weight: Tensor,
    bias: Tensor,
    width: int,
    step: int,
    frame: int,
) -> None:
    """output = bias + weight * the sums of the frames of each window."""
    check(weight.is_contiguous, 4, "weight must be contiguous")
    check(bias.is_contiguous, 4, "bias must be contiguous")
    count = _count_samples(input, None, width, step, frame)
    _check_frame(frame, weight=weight, bias=bias)
    x, w, b = (read(t, output) for t in (input, weight, bias))
    with writing((output, (count, frame))) as (out,):
        np.multiply(_sums(x, width, step, count), w.reshape(-1), out=out)
        out += b.reshape(-1)


@thnn(
    "TemporalSubSampling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int kW, int dW",
)
def sample_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, weight: Tensor, width: int, step: int
) -> None:
    """gradInput from gradOutput and weight."""
    check(weight.is_contiguous, 4, "weight must be contiguous")
    count = _count_samples(input, grad_output, width, step, None)
    _check_frame(input.sizes[1], weight=weight)
    check_size("gradOutput", grad_output, 2, 1, input.sizes[1])
    products = read(grad_output, gradient) * read(weight, gradient).reshape(-1)
    with writing((gradient, input.sizes)) as (out,):
        out[...] = 0
        for k in range(width):
            frames = _frames(out, k, step, count)
            frames += products


@thnn(
    "TemporalSubSampling_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int kW, "
    "int dW, accreal scale",
)
def sample_accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    width: int,
    step: int,
    scale: float,
) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    count = _count_samples(input, grad_output, width, step, None)
    _check_frame(input.sizes[1], gradWeight=grad_weight, gradBias=grad_bias)
    check_size("gradOutput", grad_output, 2, 1, input.sizes[1])
    x, g = (read(t, grad_weight, grad_bias) for t in (input, grad_output))
    factor = x.dtype.type(cast_scalar(scale, grad_weight.dtype))
    products = _sums(x, width, step, count) * g
    for tensor, added in ((grad_weight, products), (grad_bias, g)):
        sums = tensor.array
        sums += (factor * added.sum(axis=0)).reshape(sums.shape)


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
    check_positive(6, "kernel size", kW=width)
    check_positive(7, "stride", dW=step)
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
