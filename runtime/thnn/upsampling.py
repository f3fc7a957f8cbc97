"""Up-sampling of images and volumes: each element repeated, or interpolated linearly."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides
from runtime.thnn._jobs import contiguous, result, run
from runtime.thnn._planes import add_by_table, copy_by_table, interpolate
from runtime.thnn._shapes import size_of
from runtime.thnn.checks import check, check_size
from runtime.thnn.padding import grid_table
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_SCALE = ", int scale_factor"


# -- repeated elements


@thnn("SpatialUpSamplingNearest_updateOutput", _FORWARD + _SCALE, repeats=True)
def nearest(call: Call) -> None:
    """output = each element repeated along both dimensions."""
    _repeat(call.input, call.output, call.scale_factor, 2)


@thnn("SpatialUpSamplingNearest_updateGradInput", _BACKWARD + _SCALE, repeats=True)
def nearest_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput over each element's copies."""
    _repeat_backward(call.input, call.gradOutput, call.gradInput, call.scale_factor, 2)


@thnn("VolumetricUpSamplingNearest_updateOutput", _FORWARD + _SCALE, repeats=True)
def nearest_3d(call: Call) -> None:
    """output = each element repeated along all three dimensions."""
    _repeat(call.input, call.output, call.scale_factor, 3)


@thnn("VolumetricUpSamplingNearest_updateGradInput", _BACKWARD + _SCALE, repeats=True)
def nearest_3d_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput over each element's copies."""
    _repeat_backward(call.input, call.gradOutput, call.gradInput, call.scale_factor, 3)


def _quotients(_size: int, scale: int, count: int) -> Array:
    return np.arange(count) // scale


def _repeat(input: Tensor, output: Tensor, scale: int, dims: int) -> None:
    leading, sizes, larger = _repeated_sizes(input, scale, dims)
    table = grid_table(sizes, larger, (scale,) * dims, _quotients)
    x = contiguous(input)
    with result(output, (*leading, *larger)) as out:
        copy_by_table(x, table, math.prod(leading), out)


def _repeat_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, scale: int, dims: int
) -> None:
    leading, sizes, larger = _repeated_sizes(input, scale, dims)
    for dim, size in enumerate((*leading, *larger)):
        check_size("gradOutput", grad_output, input.ndim, dim, size)
    table = grid_table(sizes, larger, (scale,) * dims, _quotients)
    g = contiguous(grad_output)
    with result(gradient, input.sizes) as out:
        add_by_table(g, table, math.prod(leading), out)


def _repeated_sizes(input: Tensor, scale: int, dims: int) -> tuple[Sizes, Sizes, Sizes]:
    """Sizes in front of the planes, those of a plane, and of its result."""
    check(scale > 1, 4, f"scale_factor must be greater than 1, but got: {scale}")
    kinds = f"{dims + 1}D or {dims + 2}D"
    check(
        input.ndim in (dims + 1, dims + 2), 2, f"{kinds} input tensor expected but got: %s", input
    )
    sizes = input.sizes[-dims:]
    return input.sizes[:-dims], sizes, tuple(size * scale for size in sizes)


# -- interpolation


@thnn(
    "SpatialUpSamplingBilinear_updateOutput",
    _FORWARD + ", int outputHeight, int outputWidth",
    repeats=True,
)
def bilinear(call: Call) -> None:
    """output = the input at evenly spaced points, the first and last of which are its corners."""
    _interpolate(call.input, call.output, (call.outputHeight, call.outputWidth))


@thnn(
    "VolumetricUpSamplingTrilinear_updateOutput",
    _FORWARD + ", int outputDepth, int outputHeight, int outputWidth",
    repeats=True,
)
def trilinear(call: Call) -> None:
    """Likewise, of volumes."""
    _interpolate(call.input, call.output, (call.outputDepth, call.outputHeight, call.outputWidth))


@thnn(
    "SpatialUpSamplingBilinear_updateGradInput",
    "THTensor *gradOutput, THTensor *gradInput, int nbatch, int nchannels, int inputHeight, "
    "int inputWidth, int outputHeight, int outputWidth",
    repeats=True,
)
def bilinear_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput times what each element had of it."""
    _interpolate_backward(
        call.gradOutput, call.gradInput, call.numbers[:2], call.numbers[2:4], call.numbers[4:]
    )


@thnn(
    "VolumetricUpSamplingTrilinear_updateGradInput",
    "THTensor *gradOutput, THTensor *gradInput, int nbatch, int nchannels, int inputDepth, "
    "int inputHeight, int inputWidth, int outputDepth, int outputHeight, int outputWidth",
    repeats=True,
)
def trilinear_backward(call: Call) -> None:
    """Likewise, of volumes."""
    _interpolate_backward(
        call.gradOutput, call.gradInput, call.numbers[:2], call.numbers[2:5], call.numbers[5:]
    )


def _interpolate(input: Tensor, output: Tensor, larger: Sizes) -> None:
    dims = len(larger)
    sizes = tuple(size_of(input, dim) for dim in range(dims + 2))[2:]
    _check_sizes(sizes, larger)
    check(input.ndim == dims + 2, 2, f"{dims + 2}D input tensor expected but got: %s", input)
    x, leading = contiguous(input), input.sizes[:2]
    with result(output, (*leading, *larger)) as out:
        if sizes == larger:
            run("copy", x.nbytes, out=out, source=x)
        else:
            interpolate(x, *_interpolation(sizes, larger, x.dtype), math.prod(leading), out)


def _check_sizes(sizes: Sizes, larger: Sizes) -> None:
    letters = "DHW"[-len(sizes) :]
    before, after = (
        ", ".join(f"{x}: {n}" for x, n in zip(letters, s, strict=True)) for s in (sizes, larger)
    )
    check(
        min(*sizes, *larger) > 0,
        2,
        "input and output sizes should be greater than 0, but got "
        f"input ({before}) output ({after})",
    )


@lru_cache(maxsize=32)
def _interpolation(sizes: Sizes, larger: Sizes, real: np.dtype[Any]) -> tuple[Array, Array]:
    """For each point the elements around it, as places in a plane, and their weights.

    Torch7: points are floats of 32 bits, weights along a dimension have the elements' type.
    """
    places, weights = np.zeros((1, 1), np.int64), np.ones((1, 1))
    for size, count, stride in zip(sizes, larger, contiguous_strides(sizes), strict=True):
        step = np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.float32(0)
        point = step * np.arange(count, dtype=np.float32)
        first = point.astype(np.int64)
        second = np.minimum(first + 1, size - 1)
        weight = (point - first).astype(real)
        places = _outer(np.add, places, np.stack([first, second], 1) * stride)
        weights = _outer(np.multiply, weights, np.stack([1 - weight, weight], 1))
    if math.prod(sizes) > np.iinfo(np.int32).max:
        raise TorchError(f"planes of {math.prod(sizes)} elements are too large")
    return places.astype(np.int32), np.ascontiguousarray(weights, np.float64)


def _outer(combine: np.ufunc, a: Array, b: Array) -> Array:
    """For all pairs of rows, the last one's varying fastest, all pairs of their elements."""
    pairs: Array = combine(a[:, None, :, None], b[None, :, None, :])
    return pairs.reshape(len(a) * len(b), -1)


def _interpolate_backward(
    grad_output: Tensor, gradient: Tensor, leading: Sizes, sizes: Sizes, larger: Sizes
) -> None:
    _check_sizes(sizes, larger)
    for dim, size in enumerate((*leading, *larger)):
        check_size("gradOutput", grad_output, len(larger) + 2, dim, size)
    g = contiguous(grad_output)
    with result(gradient, (*leading, *sizes)) as out:
        if sizes == larger:
            run("copy", g.nbytes, out=out, source=g)
        else:
            planes = math.prod(leading)
            interpolate(out, *_interpolation(sizes, larger, g.dtype), planes, g, back=True)
