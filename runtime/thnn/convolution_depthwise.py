"""SpatialDepthWiseConvolution: each plane of the input has kernels of its own.

The output has the maps of one plane after those of the other. finput holds the columns of all
planes of all samples.
"""

from __future__ import annotations

from math import prod

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides, describe
from runtime.thnn import _columns
from runtime.thnn._convolution import (
    Given,
    Shape,
    check_columns,
    check_found,
    count_places,
    inner_windows,
)
from runtime.thnn.checks import Numbers, check, check_batch, check_size, check_steps, in_order
from runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_NUMBERS = "int kW, int kH, int dW, int dH, int padW, int padH"


@thnn(
    "SpatialDepthWiseConvolution_updateOutput",
    f"input, output, weight, bias?, finput, fgradInput, {_NUMBERS}",
    repeats=False,
)
def forward(call: Call) -> None:
    """output = bias + the correlations of each of input's planes with the kernels for it."""
    # Torch7: takes the width of an image for its height, and the other way round.
    shape = _turned(_checked(call), call.numbers)
    x, w = call.read(call.input).reshape(shape.images), _by_plane(call.read(call.weight), shape)
    b = None if call.bias is None else np.ascontiguousarray(call.read(call.bias).T)
    out = call.write(call.output, (*shape.batch, shape.planes * shape.maps, *shape.count))
    memory = call.write(call.finput, _columns_size(shape))
    maps, columns = _split(out, shape, shape.maps), _split(memory, shape, shape.windows.taps)
    for c in range(shape.planes):
        one, image = 0 if b is None else b[c], x[:, c : c + 1]
        _columns.correlate(shape.windows, image, w[c], one, maps[:, c], columns[:, c])


@thnn(
    "SpatialDepthWiseConvolution_updateGradInput",
    f"{BACKWARD}, weight, finput, fgradInput, {_NUMBERS}",
    repeats=False,
)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _checked(call)
    _check_places(shape, _turned(shape, call.numbers))
    g, w = call.read(call.gradOutput), _by_plane(call.read(call.weight), shape)
    images = call.write(call.gradInput, call.input.sizes).reshape(shape.images)
    memory = call.write(call.fgradInput, _columns_size(shape))
    maps, columns = _split(g, shape, shape.maps), _split(memory, shape, shape.windows.taps)
    for c in range(shape.planes):
        image = images[:, c : c + 1]
        _columns.spread(shape.windows, maps[:, c], w[c], 0, image, columns[:, c])


@thnn(
    "SpatialDepthWiseConvolution_accGradParameters",
    f"{GRADIENTS}?, finput, fgradInput, {_NUMBERS}, accreal scale",
    repeats=False,
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias.

    Torch7 leaves both with their memory turned, maps within planes, and at a second call loses
    gradients where there are as many maps as planes.
    """
    shape = _checked(call)
    _check_places(shape, _turned(shape, call.numbers))
    check_columns(call.finput, _columns_size(shape))
    maps = _split(call.read(call.gradOutput), shape, shape.maps)
    columns = _split(call.read(call.finput), shape, shape.windows.taps)
    factor = cast_scalar(call.scale, call.gradWeight.dtype)
    out = call.change(call.gradWeight)
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


def _turned(shape: Shape, numbers: Numbers) -> Shape:
    """A shape with width for height, and height for width."""
    height, width = shape.size
    if height == width:
        return shape
    return _shape(shape.batch, shape.planes, shape.maps, (width, height), numbers)


def _shape(batch: Sizes, planes: int, maps: int, size: Sizes, numbers: Numbers) -> Shape:
    kernel, stride, padding = in_order(numbers, 2)
    count = count_places(size, kernel, stride, padding, (1, 1))
    check_found(size, count, maps * planes, planes)
    windows = inner_windows(size, kernel, stride, padding, count)
    return Shape(batch, planes, maps, size, count, windows)


def _checked(call: Call) -> Shape:
    """The sizes of a call. Torch7: weights with 2 dimensions get 4."""
    given = Given.to(call)
    input, weight = given.input, given.weight
    kernel, stride, _ = in_order(call.numbers, 2)
    taps = prod(kernel)
    if min(kernel) > 0 and weight.ndim == 2 and weight.sizes[1] % taps == 0:
        weight.resize((weight.sizes[0], weight.sizes[1] // taps, *kernel))
    check_steps(9, kernel, stride)
    check(weight.ndim == 4, 5, "2D or 4D weight tensor expected, but got: %s", weight)
    maps, planes = weight.sizes[:2]
    if given.bias is not None:
        check_size("bias", given.bias, 2, 0, maps)
        check_size("bias", given.bias, 2, 1, planes)
    check_batch(input, 2, plain=True)
    shape = _shape(input.sizes[:-3], planes, maps, input.sizes[-2:], call.numbers)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    if weight.sizes[2:] != kernel:
        kh, kw = kernel
        raise TorchError(f"weight of kernels {kh} x {kw} expected, got {describe(weight.sizes)}")
    if given.grad_output is not None:
        _check_gradient(given.grad_output, shape)
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
