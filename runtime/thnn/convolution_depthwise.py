"""SpatialDepthWiseConvolution: each plane of the input has kernels of its own.

The output has the maps of one plane after those of the other. finput holds the columns of all
planes of all samples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides, describe
from runtime.thnn import _columns
from runtime.thnn._convolution import (
    Shape,
    check_columns,
    check_positive,
    count_places,
    inner_windows,
    too_small,
)
from runtime.thnn._geometry import Windows
from runtime.thnn._jobs import adding, read, writing
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn

_NUMBERS = "int kW, int kH, int dW, int dH, int padW, int padH"


@thnn(
    "SpatialDepthWiseConvolution_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput, "
    f"THTensor *fgradInput, {_NUMBERS}",
)
def forward(call: Call) -> None:
    """output = bias + the correlations of each of input's planes with the kernels for it."""
    # Torch7: takes the width of an image for its height, and the other way round.
    shape = _turned(_checked(call.input, None, call.weight, call.bias, call.numbers), call.numbers)
    results = (call.output, call.finput)
    x, w = (
        read(call.input, *results).reshape(shape.images),
        _by_plane(read(call.weight, *results), shape),
    )
    b = None if call.bias is None else np.ascontiguousarray(read(call.bias, *results).T)
    sizes = (*shape.batch, shape.planes * shape.maps, *shape.count)
    with writing((call.output, sizes), (call.finput, _columns_size(shape))) as (out, columns):
        maps, memory = _split(out, shape, shape.maps), _split(columns, shape, shape.windows.taps)
        for c in range(shape.planes):
            one = None if b is None else b[c]
            image = x[:, c : c + 1]
            _columns.correlate(shape.windows, image, w[c], one, maps[:, c], memory[:, c])


@thnn(
    "SpatialDepthWiseConvolution_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}",
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _checked(call.input, call.gradOutput, call.weight, None, call.numbers)
    _check_places(shape, _turned(shape, call.numbers))
    results = (call.gradInput, call.fgradInput)
    g, w = read(call.gradOutput, *results), _by_plane(read(call.weight, *results), shape)
    with writing((call.gradInput, call.input.sizes), (call.fgradInput, _columns_size(shape))) as (
        out,
        columns,
    ):
        maps, memory = _split(g, shape, shape.maps), _split(columns, shape, shape.windows.taps)
        images = out.reshape(shape.images)
        for c in range(shape.planes):
            image = images[:, c : c + 1]
            _columns.spread(shape.windows, maps[:, c], w[c], None, image, memory[:, c])


@thnn(
    "SpatialDepthWiseConvolution_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    f"THTensor *finput, THTensor *fgradInput, {_NUMBERS}, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias.

    Torch7 leaves both with their memory turned, maps within planes, and at a second call loses
    gradients where there are as many maps as planes.
    """
    shape = _checked(call.input, call.gradOutput, call.gradWeight, call.gradBias, call.numbers)
    _check_places(shape, _turned(shape, call.numbers))
    check_columns(call.finput, _columns_size(shape))
    results = (call.gradWeight,) if call.gradBias is None else (call.gradWeight, call.gradBias)
    maps = _split(read(call.gradOutput, *results), shape, shape.maps)
    columns = _split(read(call.finput, *results), shape, shape.windows.taps)
    factor = cast_scalar(call.scale, call.gradWeight.dtype)
    with adding(call.gradWeight) as out:
        sums = _by_plane(out, shape)
        for c in range(shape.planes):
            _columns.weigh(shape.windows, None, maps[:, c], sums[c], factor, columns[:, c])
        out[...] = sums.transpose(1, 0, 2).reshape(out.shape)
    if call.gradBias is not None:
        added = call.gradBias.array
        added += added.dtype.type(factor) * maps.sum(axis=(0, 3)).T


def _by_plane(weight: Array, shape: Shape) -> Array:
    """Weights as planes x maps x places in the kernel."""
    kernels = weight.reshape(shape.maps, shape.planes, shape.windows.taps)
    return np.ascontiguousarray(kernels.transpose(1, 0, 2))


def _split(array: Array, shape: Shape, rows: int) -> Array:
    """Maps or columns as samples x planes x rows x places."""
    return array.reshape(-1, shape.planes, rows, shape.windows.places)[: shape.images[0]]


def _columns_size(shape: Shape) -> Sizes:
    return (*shape.batch, shape.planes, shape.windows.taps, shape.windows.places)


def _check_places(shape: Shape, turned: Shape) -> None:
    if shape.windows.places != turned.windows.places:
        raise TorchError(
            f"size mismatch: {turned.windows.places} columns, {shape.windows.places} places"
        )


def _turned(shape: Shape, numbers: tuple[int, ...]) -> Shape:
    """The same with width for height, and height for width."""
    height, width = shape.size
    return shape if height == width else _shape(shape, (width, height), numbers)


def _shape(shape: Shape, size: Sizes, numbers: tuple[int, ...]) -> Shape:
    kw, kh, dw, dh, pw, ph = numbers
    count = count_places(size, (kh, kw), (dh, dw), (ph, pw), (1, 1))
    if min(count) < 1:
        planes = shape.planes
        raise too_small((planes, *size), (shape.maps * planes, *count))
    windows = inner_windows(size, (kh, kw), (dh, dw), (ph, pw), count)
    return replace(shape, size=size, count=count, windows=windows)


def _checked(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: tuple[int, ...],
) -> Shape:
    """The sizes of a call. Torch7: weights with 2 dimensions get 4."""
    kw, kh, dw, dh, _, _ = numbers
    if min(kw, kh) > 0 and weight.ndim == 2 and weight.sizes[1] % (kh * kw) == 0:
        weight.resize((weight.sizes[0], weight.sizes[1] // (kh * kw), kh, kw))
    check_positive(9, "kernel size", kH=kh, kW=kw)
    check_positive(11, "stride", dH=dh, dW=dw)
    check(weight.ndim == 4, 5, "2D or 4D weight tensor expected, but got: %s", weight)
    maps, planes = weight.sizes[:2]
    if bias is not None:
        check_size("bias", bias, 2, 0, maps)
        check_size("bias", bias, 2, 1, planes)
    check(input.ndim in (3, 4), 2, "3D or 4D input tensor expected but got: %s", input)
    batch, size = input.sizes[:-3], input.sizes[-2:]
    windows = Windows.of(size, (kh, kw), (dh, dw), (0, 0), (1, 1), (1, 1))
    shape = Shape(batch, planes, maps, size, (1, 1), windows)
    shape = _shape(shape, size, numbers)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    if weight.sizes[2:] != (kh, kw):
        raise TorchError(f"weight of kernels {kh} x {kw} expected, got {describe(weight.sizes)}")
    if grad_output is not None:
        _check_gradient(grad_output, shape)
    return shape


def _check_gradient(grad_output: Tensor, shape: Shape) -> None:
    """Check the sizes of gradOutput, of which planes and maps may be one dimension."""
    dims = len(shape.batch) + 4
    given = grad_output.sizes
    if len(given) == dims - 1:
        given = (*given[: dims - 4], shape.planes, shape.maps, *given[-2:])
    like = grad_output.view(grad_output.offset, given, contiguous_strides(given))
    expected = (shape.planes, shape.maps, *shape.count)
    for dim, size in enumerate(expected, dims - 4):
        check_size("gradOutput", like, dims, dim, size)
    samples = given[0] if shape.batch else 1
    if grad_output.nelement < samples * shape.planes * shape.maps * shape.windows.places or (
        shape.batch and samples < shape.batch[0]
    ):
        raise TorchError(f"gradOutput has too few elements: {describe(grad_output.sizes)}")
