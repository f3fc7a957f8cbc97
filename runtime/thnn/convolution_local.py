"""Convolutions with other weights for each place or each plane, and the columns of images as such.

SpatialConvolutionLocal has weights of its own for each place of the window, and
SpatialDepthWiseConvolution for each plane of the input, which is combined with no other. finput
holds the columns of all samples, as in SpatialConvolutionMM.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from runtime.compute.thread_pool import share
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn import _columns
from runtime.thnn._convolution import (
    Shape,
    check_columns,
    check_gradient,
    check_positive,
    inner_windows,
    remembered,
)
from runtime.thnn._jobs import read, writing
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn

_KERNEL = "int kW, int kH, int dW, int dH, int padW, int padH"
#: Elements of columns that one step of a local convolution copies.
_STEP = 1 << 18

# -- columns


@thnn(
    "unfolded_copy",
    f"THTensor *finput, THTensor *input, {_KERNEL}, int nInputPlane, int inputWidth, "
    "int inputHeight, int outputWidth, int outputHeight",
    has_state=False,
)
def unfolded_copy(call: Call) -> None:
    """finput = the columns of input."""
    shape = _unfolded(call.finput, call.input, call.numbers)
    x = read(call.input, call.finput).reshape(shape.images)
    _columns.unfold(shape.windows, x, call.finput.array.reshape(1, *shape.columns))


@thnn(
    "unfolded_acc",
    f"THTensor *finput, THTensor *input, {_KERNEL}, int nInputPlane, int inputWidth, "
    "int inputHeight, int outputWidth, int outputHeight",
    has_state=False,
)
def unfolded_acc(call: Call) -> None:
    """Add the columns in finput to input."""
    shape = _unfolded(call.finput, call.input, call.numbers)
    columns = read(call.finput, call.input).reshape(1, *shape.columns)
    _columns.fold(shape.windows, columns, call.input.array.reshape(shape.images))


def _unfolded(finput: Tensor, input: Tensor, numbers: tuple[int, ...]) -> Shape:
    kw, kh, dw, dh, pw, ph, planes, width, height, columns, rows = numbers
    if min(kw, kh, dw, dh, planes, width, height, columns, rows) < 1:
        raise TorchError("sizes and strides should be greater than zero")
    size, count = (height, width), (rows, columns)
    windows = inner_windows(size, (kh, kw), (dh, dw), (ph, pw), count)
    shape = Shape((1,), planes, 1, size, count, windows)
    for name, t, sizes in (("finput", finput, shape.columns), ("input", input, shape.images)):
        if t.nelement != prod(sizes) or not t.is_contiguous:
            raise TorchError(
                f"{name} needs to be contiguous, with {prod(sizes)} elements, "
                f"but got: {describe(t.sizes)}"
            )
    return shape


# -- SpatialConvolutionLocal

_LOCAL = f"{_KERNEL}, long inputWidth, long inputHeight, long outputWidth, long outputHeight"


@thnn(
    "SpatialConvolutionLocal_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *finput, "
    f"THTensor *fgradInput, {_LOCAL}",
)
def local_forward(call: Call) -> None:
    """output = bias + for each place its weights times what lies under the kernel there."""
    shape = _local(call.input, None, call.weight, call.bias, call.numbers)
    results = (call.output, call.finput)
    x, w, b = (read(t, *results) for t in (call.input, call.weight, call.bias))
    w, b = _by_place(w, shape), b.reshape(shape.maps, -1)
    sizes = (*shape.batch, shape.maps, *shape.count)
    with writing((call.finput, shape.batch + shape.columns), (call.output, sizes)) as (memory, out):
        columns, out = memory.reshape(-1, *shape.columns), out.reshape(shape.results)
        _columns.unfold(shape.windows, x.reshape(shape.images), columns)

        def compute(at: slice) -> None:
            under = np.ascontiguousarray(columns[:, :, at].transpose(2, 1, 0))
            out[:, :, at] = np.matmul(w[at], under).transpose(2, 1, 0) + b[:, at]

        _for_places(shape, compute)


@thnn(
    "SpatialConvolutionLocal_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *finput, THTensor *fgradInput, {_LOCAL}",
)
def local_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _local(call.input, call.gradOutput, call.weight, None, call.numbers)
    check_columns(call.finput, shape.batch + shape.columns)
    results = (call.gradInput, call.fgradInput)
    g, w = (read(t, *results) for t in (call.gradOutput, call.weight))
    g, w = g.reshape(-1, *shape.results[1:])[: shape.images[0]], _by_place(w, shape)
    with writing((call.gradInput, call.input.sizes), (call.fgradInput, call.finput.sizes)) as (
        out,
        memory,
    ):
        columns = memory.reshape(-1, *shape.columns)

        def compute(at: slice) -> None:
            above = np.ascontiguousarray(g[:, :, at].transpose(2, 1, 0))
            columns[:, :, at] = np.matmul(w[at].transpose(0, 2, 1), above).transpose(2, 1, 0)

        _for_places(shape, compute)
        out[...] = 0
        _columns.fold(shape.windows, columns, out.reshape(shape.images))


@thnn(
    "SpatialConvolutionLocal_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, "
    f"THTensor *finput, THTensor *fgradInput, {_LOCAL}, accreal scale",
)
def local_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check(call.gradWeight.is_contiguous, 4, "gradWeight needs to be contiguous")
    check(call.gradBias.is_contiguous, 5, "gradBias needs to be contiguous")
    shape = _local(call.input, call.gradOutput, call.gradWeight, call.gradBias, call.numbers)
    check_columns(call.finput, shape.batch + shape.columns)
    results = (call.gradWeight, call.gradBias)
    g = read(call.gradOutput, *results).reshape(-1, *shape.results[1:])[: shape.images[0]]
    columns = read(call.finput, *results).reshape(-1, *shape.columns)
    out = _by_place(call.gradWeight.array, shape)
    factor = out.dtype.type(cast_scalar(call.scale, call.gradWeight.dtype))

    def compute(at: slice) -> None:
        above, under = g[:, :, at].transpose(2, 1, 0), columns[:, :, at].transpose(2, 0, 1)
        sums = np.matmul(np.ascontiguousarray(above), np.ascontiguousarray(under))
        out[at] += np.multiply(sums, factor, out=sums)

    _for_places(shape, compute)
    sums = call.gradBias.array
    sums += factor * g.sum(axis=0).reshape(sums.shape)


def _by_place(weight: Array, shape: Shape) -> Array:
    return weight.reshape(shape.windows.places, shape.maps, -1)


def _for_places(shape: Shape, compute: Callable[[slice], None]) -> None:
    """Call compute for slices of the places, by several threads."""
    each = shape.images[0] * shape.columns[0]
    piece = max(_STEP // each, 1)
    share(compute, shape.windows.places, piece=piece, large=max(_STEP // each // 4, 2))


@remembered
def _local(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: tuple[int, ...],
) -> Shape:
    kw, kh, dw, dh, pw, ph, width, height, columns, rows = numbers
    message = f"weight tensor should be 3D or 6D - got {weight.ndim}D"
    check(weight.ndim in (3, 6), 4, message)
    check_positive(9, "kernel size", kH=kh, kW=kw)
    check_positive(11, "stride", dH=dh, dW=dw)
    check(input.ndim in (3, 4), 2, "3D or 4D input tensor expected but got: %s", input)
    flat = weight.ndim == 3
    places, maps = weight.sizes[:2] if flat else (prod(weight.sizes[:2]), weight.sizes[2])
    depth = weight.sizes[2] if flat else prod(weight.sizes[3:])
    planes = depth // (kh * kw)
    if bias is not None:
        for dim, expected in enumerate((maps, rows, columns)):
            check_size("bias", bias, 3, dim, expected)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    check_gradient(grad_output, input, (maps, rows, columns))
    size, count = (height, width), (rows, columns)
    if min(count) < 1 or input.sizes[-2:] != size:
        raise TorchError(f"input of size {describe(size)} expected, got {describe(input.sizes)}")
    windows = inner_windows(size, (kh, kw), (dh, dw), (ph, pw), count)
    shape = Shape(input.sizes[:-3], planes, maps, size, count, windows)
    if (places, depth) != (windows.places, shape.columns[0]):
        fitting = (windows.places, maps, shape.columns[0])
        raise TorchError(f"weight of size {describe(fitting)} expected")
    return shape
