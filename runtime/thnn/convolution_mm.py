"""SpatialConvolutionMM and VolumetricConvolutionMM: convolutions that keep the columns of images.

finput gets the columns of all samples, and accGradParameters reads them there; fgradInput gets
their gradients.
"""

from __future__ import annotations

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn import _columns
from runtime.thnn._convolution import (
    Shape,
    check_columns,
    check_depth,
    check_gradient,
    check_positive,
    count_places,
    inner_windows,
    remembered,
    too_small,
)
from runtime.thnn._jobs import adding, read, writing
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn


def _shape(
    input: Tensor,
    planes: int,
    maps: int,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    count: Sizes,
) -> Shape:
    dims = len(kernel)
    size = input.sizes[-dims:]
    windows = inner_windows(size, kernel, stride, padding, count)
    return Shape(input.sizes[: -dims - 1], planes, maps, size, count, windows)


def _forward(shape: Shape, call: Call) -> None:
    output, finput = results = (call.output, call.finput)
    x, w = read(call.input, *results), read(call.weight, *results)
    b = None if call.bias is None else read(call.bias, *results)
    sizes = shape.batch + shape.columns
    with writing((finput, sizes), (output, (*shape.batch, shape.maps, *shape.count))) as arrays:
        columns, out = arrays
        _columns.correlate(
            shape.windows,
            x.reshape(shape.images),
            w.reshape(shape.maps, -1),
            b,
            out.reshape(shape.results),
            columns.reshape(-1, *shape.columns),
        )


def _backward(shape: Shape, call: Call) -> None:
    check_columns(call.finput, shape.batch + shape.columns)
    gradient, memory = results = (call.gradInput, call.fgradInput)
    g, w = read(call.gradOutput, *results), read(call.weight, *results)
    with writing((gradient, call.input.sizes), (memory, call.finput.sizes)) as (out, columns):
        _columns.spread(
            shape.windows,
            g.reshape(-1, *shape.results[1:]),
            w.reshape(shape.maps, -1),
            None,
            out.reshape(shape.images),
            columns.reshape(-1, *shape.columns),
        )


def _accumulate(shape: Shape, call: Call) -> None:
    check_columns(call.finput, shape.batch + shape.columns)
    results = (call.gradWeight,) if call.gradBias is None else (call.gradWeight, call.gradBias)
    g, columns = read(call.gradOutput, *results), read(call.finput, *results)
    g = g.reshape(-1, *shape.results[1:])[: shape.images[0]]
    with adding(call.gradWeight) as out:
        _columns.weigh(
            shape.windows,
            None,
            g,
            out.reshape(shape.maps, -1),
            call.scale,
            columns.reshape(-1, *shape.columns),
        )
    if call.gradBias is not None:
        with adding(call.gradBias) as sums:
            _columns.add_sums(sums, g, call.scale)


# -- SpatialConvolutionMM


@remembered
def _spatial(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: tuple[int, ...],
) -> Shape:
    kw, kh, dw, dh, pw, ph = numbers
    check_positive(9, "kernel size", kH=kh, kW=kw)
    check_positive(11, "stride", dH=dh, dW=dw)
    check(weight.ndim in (2, 4), 5, "2D or 4D weight tensor expected, but got: %s", weight)
    maps = weight.sizes[0]
    if bias is not None:
        check_size("bias", bias, 1, 0, maps)
    check(input.ndim in (3, 4), 2, "3D or 4D input tensor expected but got: %s", input)
    planes = weight.nelement // maps // (kh * kw)
    size, kernel, stride, padding = input.sizes[-2:], (kh, kw), (dh, dw), (ph, pw)
    count = count_places(size, kernel, stride, padding, (1, 1))
    if min(count) < 1:
        raise too_small((planes, *size), (maps, *count))
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    check_gradient(grad_output, input, (maps, *count))
    shape = _shape(input, planes, maps, kernel, stride, padding, count)
    check_depth(weight, shape)
    return shape


_SPATIAL = ", int kW, int kH, int dW, int dH, int padW, int padH"


@thnn(
    "SpatialConvolutionMM_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput, "
    "THTensor *fgradInput" + _SPATIAL,
    repeats=True,
)
def spatial_forward(call: Call) -> None:
    """output = bias + the correlation of input's planes with weight."""
    shape = _spatial(call.input, None, call.weight, call.bias, call.numbers)
    _forward(shape, call)


@thnn(
    "SpatialConvolutionMM_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    "THTensor *finput, THTensor *fgradInput" + _SPATIAL,
    repeats=True,
)
def spatial_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _spatial(call.input, call.gradOutput, call.weight, None, call.numbers)
    _backward(shape, call)


@thnn(
    "SpatialConvolutionMM_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    "THTensor *finput, THTensor *fgradInput" + _SPATIAL + ", accreal scale",
    repeats=True,
)
def spatial_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check(call.gradWeight.is_contiguous, 4, "gradWeight needs to be contiguous")
    if call.gradBias is not None:
        check(call.gradBias.is_contiguous, 5, "gradBias needs to be contiguous")
    shape = _spatial(call.input, call.gradOutput, call.gradWeight, call.gradBias, call.numbers)
    _accumulate(shape, call)


# -- VolumetricConvolutionMM


@remembered
def _volumetric(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: tuple[int, ...],
) -> Shape:
    kt, kw, kh, dt, dw, dh, pt, pw, ph = numbers
    message = "4D or 5D (batch mode) tensor expected for input, but got: %s"
    check(input.ndim in (4, 5), 2, message, input)
    check_positive(8, "kernel size", kT=kt, kH=kh, kW=kw)
    check_positive(11, "stride", dT=dt, dH=dh, dW=dw)
    planes, maps = input.sizes[-4], weight.sizes[0] if weight.ndim else 0
    size, kernel, stride, padding = input.sizes[-3:], (kt, kh, kw), (dt, dh, dw), (pt, ph, pw)
    count = count_places(size, kernel, stride, padding, (1, 1, 1))
    if min(count) < 1:
        raise too_small((planes, *size), (maps, *count), "x")
    check(weight.ndim in (2, 5), 4, f"weight tensor should be 2D or 5D - got {weight.ndim}")
    if bias is not None:
        check_size("bias", bias, 1, 0, maps)
    check_gradient(grad_output, input, (maps, *count))
    shape = _shape(input, planes, maps, kernel, stride, padding, count)
    check_depth(weight, shape)
    return shape


_VOLUMETRIC = ", int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH"


@thnn(
    "VolumetricConvolutionMM_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *finput"
    + _VOLUMETRIC,
    repeats=True,
)
def volumetric_forward(call: Call) -> None:
    """output = bias + the correlation of input's planes with weight."""
    shape = _volumetric(call.input, None, call.weight, call.bias, call.numbers)
    _forward(shape, call)


@thnn(
    "VolumetricConvolutionMM_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    "THTensor *finput, THTensor *fgradInput" + _VOLUMETRIC,
    repeats=True,
)
def volumetric_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _volumetric(call.input, call.gradOutput, call.weight, None, call.numbers)
    _backward(shape, call)


@thnn(
    "VolumetricConvolutionMM_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
    "THTensor *finput" + _VOLUMETRIC + ", accreal scale",
    repeats=True,
)
def volumetric_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias.

    Torch7: a gradWeight that is not contiguous stays as it is.
    """
    shape = _volumetric(call.input, call.gradOutput, call.gradWeight, call.gradBias, call.numbers)
    _accumulate(shape, call)
