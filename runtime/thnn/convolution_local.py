"""SpatialConvolutionLocal, with weights of its own for each place.

finput holds the columns of all samples, as in SpatialConvolutionMM.
"""

from __future__ import annotations

from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import describe
from th_shell.runtime.thnn import _columns
from th_shell.runtime.thnn._convolution import (
    Given,
    Shape,
    check_columns,
    check_gradient,
    inner_windows,
    remembered,
)
from th_shell.runtime.thnn._jobs import blas, loops, run
from th_shell.runtime.thnn.checks import check, check_batch, check_size, check_steps, in_order
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_KERNEL = "int kW, int kH, int dW, int dH, int padW, int padH"


def _unfold(shape: Shape, x: Array, columns: Array) -> None:
    """columns = those of the images of all samples."""
    _columns.unfold(shape.windows, x.reshape(shape.images), columns.reshape(-1, *shape.columns))


_LOCAL = (
    f"finput, fgradInput, {_KERNEL}, long inputWidth, long inputHeight, long outputWidth, "
    "long outputHeight"
)


@thnn(
    "SpatialConvolutionLocal_updateOutput", f"input, output, weight, bias, {_LOCAL}", repeats=False
)
def forward(call: Call) -> None:
    """output = bias + for each place its weights times what lies under the kernel there."""
    shape = _checked(call)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    columns = call.write(call.finput, shape.all_columns)
    out = call.write(call.output, (*shape.batch, shape.maps, *shape.count))
    _unfold(shape, x, columns)
    out.reshape(shape.images[0], -1)[...] = b.reshape(-1)
    _multiply("forward", shape, columns, w, out)


@thnn("SpatialConvolutionLocal_updateGradInput", f"{BACKWARD}, weight, {_LOCAL}", repeats=False)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _checked(call)
    check_columns(call.finput, shape)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    out = call.write(call.gradInput, call.input.sizes)
    columns = call.write(call.fgradInput, call.finput.sizes)
    _multiply("backward", shape, columns, w, g)
    out.fill(0)
    _columns.fold(shape.windows, columns.reshape(-1, *shape.columns), out.reshape(shape.images))


@thnn(
    "SpatialConvolutionLocal_accGradParameters",
    f"{GRADIENTS}, {_LOCAL}, accreal scale",
    repeats=False,
)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check(call.gradWeight.is_contiguous, 4, "gradWeight needs to be contiguous")
    check(call.gradBias.is_contiguous, 5, "gradBias needs to be contiguous")
    shape = _checked(call)
    check_columns(call.finput, shape)
    g, columns = call.read(call.gradOutput), call.read(call.finput)
    _multiply("gradient", shape, columns, call.change(call.gradWeight), g, call.scale)
    sums = call.change(call.gradBias).reshape(-1)
    _columns.add_sums(sums, g.reshape(-1, sums.size, 1)[: shape.images[0]], call.scale)


def _multiply(
    what: str, shape: Shape, columns: Array, weight: Array, maps: Array, scale: float = 1
) -> None:
    """Compute maps += weight * columns for each place; backward: columns; gradient: weights."""
    samples, (height, places) = shape.images[0], shape.columns
    run(
        "nn_local",
        places,
        work=samples * weight.size // 10,
        gemm=blas("gemm", columns.itemsize),
        columns=columns,
        weight=weight,
        out=maps,
        backward=what == "backward",
        gradient=what == "gradient",
        samples=samples,
        maps=shape.maps,
        height=height,
        places=places,
        alpha=scale,
        **loops(columns.dtype, np.positive),
    )


@remembered
def _checked(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    kernel, stride, padding, size, count = in_order(operands.numbers, 2)
    check(weight.ndim in (3, 6), 4, f"weight tensor should be 3D or 6D - got {weight.ndim}D")
    check_steps(9, kernel, stride)
    check_batch(input, 2, plain=True)
    flat = weight.ndim == 3
    places, maps = weight.sizes[:2] if flat else (prod(weight.sizes[:2]), weight.sizes[2])
    depth = weight.sizes[2] if flat else prod(weight.sizes[3:])
    planes = depth // prod(kernel)
    if operands.bias is not None:
        for dim, expected in enumerate((maps, *count)):
            check_size("bias", operands.bias, 3, dim, expected)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    check_gradient(operands.grad_output, input, (maps, *count))
    if min(count) < 1 or input.sizes[-2:] != size:
        raise TorchError(f"input of size {describe(size)} expected, got {describe(input.sizes)}")
    windows = inner_windows(size, kernel, stride, padding, count)
    shape = Shape(input.sizes[:-3], planes, maps, size, count, windows)
    if (places, depth) != (windows.places, shape.columns[0]):
        fitting = (windows.places, maps, shape.columns[0])
        raise TorchError(f"weight of size {describe(fitting)} expected")
    return shape
