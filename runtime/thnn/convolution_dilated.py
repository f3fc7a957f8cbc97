"""Dilated and full (transposed) convolutions of images and volumes.

``columns`` is memory for the columns of one sample, and holds those of the last one afterwards;
``ones`` is at least as large as a map, and has only ones. Both are what the original leaves there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from runtime.core.dtypes import cast_scalar
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn import _columns
from runtime.thnn._columns import Windows
from runtime.thnn._convolution import (
    Check,
    Shape,
    adding,
    check_depth,
    check_gradient,
    check_positive,
    count_places,
    full_size,
    read,
    remembered,
    too_small,
    writing,
)
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import thnn

__all__: list[str] = []

# -- what is computed: `reduce` makes maps of images, `expand` images of maps


def _reduce(
    shape: Shape,
    source: Tensor,
    result: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    columns: Tensor,
) -> None:
    """result = bias + weight * the columns of source."""
    results = (result, columns)
    x, w = read(source, *results), read(weight, *results)
    b = None if bias is None else read(bias, *results)
    sizes = (*shape.batch, shape.maps, *shape.count)
    with writing((result, sizes), (columns, shape.columns)) as (out, memory):
        _columns.correlate(
            shape.windows,
            x.reshape(-1, *shape.images[1:])[: shape.images[0]],
            w.reshape(shape.maps, -1),
            b,
            out.reshape(shape.results),
            memory,
        )


def _expand(
    shape: Shape,
    source: Tensor,
    result: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    columns: Tensor,
) -> None:
    """result = bias + transposed(weight) * source, added up as columns of the result."""
    results = (result, columns)
    g, w = read(source, *results), read(weight, *results)
    b = None if bias is None else read(bias, *results)
    sizes = (*shape.batch, shape.planes, *shape.size)
    with writing((result, sizes), (columns, shape.columns)) as (out, memory):
        _columns.spread(
            shape.windows,
            g.reshape(-1, *shape.results[1:]),
            w.reshape(shape.maps, -1),
            b,
            out.reshape(shape.images),
            memory,
        )


def _accumulate(
    shape: Shape,
    images: Tensor,
    maps: Tensor,
    grad_output: Tensor,
    gradients: tuple[Tensor, Tensor | None],
    scale: float,
    columns: Tensor,
) -> None:
    """Add scale times maps * the columns of images to weights, and sums of gradOutput to biases."""
    grad_weight, grad_bias = gradients
    results = (*(g for g in gradients if g is not None), columns)
    samples = shape.images[0]
    x = read(images, *results).reshape(-1, *shape.images[1:])[:samples]
    g = read(maps, *results).reshape(-1, *shape.results[1:])[:samples]
    factor = cast_scalar(scale, grad_weight.dtype)
    with writing((columns, shape.columns)) as (memory,), adding(grad_weight) as out:
        _columns.weigh(shape.windows, x, g, out.reshape(shape.maps, -1), factor, memory)
    if grad_bias is not None:
        gradient = g if grad_output is maps else x.reshape(samples, shape.planes, -1)
        _columns.add_sums(grad_bias.array, gradient, factor)


def _fill_ones(ones: Tensor, count: Sizes) -> None:
    if ones.ndim != len(count) or ones.nelement < prod(count):
        ones.resize(count)
        ones.array[...] = 1


def _check_contiguous(grad_weight: Tensor, grad_bias: Tensor | None) -> None:
    check(grad_weight.is_contiguous, 4, "gradWeight needs to be contiguous")
    if grad_bias is not None:
        check(grad_bias.is_contiguous, 5, "gradBias needs to be contiguous")


# -- checks, which return the sizes of a call
#
# Numbers that a function gets are in the order of its parameters: width before height.

Numbers = tuple[int, ...]
_IMAGE = "3D or 4D input tensor expected but got: %s"
_VOLUME = "4D or 5D (batch mode) tensor expected for input, but got: %s"
_VOLUME_WEIGHT = (
    "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for weight, but got: %s"
)


def _in_order(numbers: Numbers, dims: int) -> list[Sizes]:
    """Groups of (depth,) width and height as tuples of (depth,) height and width."""
    groups = [numbers[i : i + dims] for i in range(0, len(numbers), dims)]
    return [(*group[:-2], group[-1], group[-2]) for group in groups]


def _check_bias(bias: Tensor | None, count: int) -> None:
    if bias is not None:
        check_size("bias", bias, 1, 0, count)


def _check_dilated(
    input: Tensor, grad_output: Tensor | None, weight: Tensor, *numbers: Sizes
) -> Shape:
    """The checks of sizes that images and volumes share."""
    kernel, stride, padding, dilation = numbers
    dims = len(kernel)
    (maps, planes), size = weight.sizes[:2], input.sizes[-dims:]
    count = count_places(size, kernel, stride, padding, dilation)
    if min(count) < 1:
        raise too_small((planes, *size), (maps, *count), " x " if dims == 2 else "x")
    check_size("input", input, input.ndim, input.ndim - dims - 1, planes)
    check_gradient(grad_output, input, (maps, *count))
    windows = Windows.of(size, kernel, stride, padding, dilation, count)
    shape = Shape(input.sizes[: -dims - 1], planes, maps, size, count, windows)
    check_depth(weight, shape)
    return shape


@remembered
def _check_dilated_image(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    message = "4D weight tensor (nOutputPlane,nInputPlane,kH,kW) expected, but got: %s"
    check(weight.ndim == 4, 4, message, weight)
    kernel, stride, padding, dilation = _in_order(numbers, 2)
    check_positive(9, "kernel size", kH=kernel[0], kW=kernel[1])
    check_positive(11, "stride", dH=stride[0], dW=stride[1])
    check_positive(15, "dilation", ", ", dilationH=dilation[0], dilationW=dilation[1])
    _check_bias(bias, weight.sizes[0])
    check(input.ndim in (3, 4), 2, _IMAGE, input)
    return _check_dilated(input, grad_output, weight, kernel, stride, padding, dilation)


@remembered
def _check_dilated_volume(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    check(input.ndim in (4, 5), 2, _VOLUME, input)
    check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
    kernel, stride, padding, dilation = _in_order(numbers, 3)
    check_positive(8, "kernel size", kT=kernel[0], kH=kernel[1], kW=kernel[2])
    check_positive(11, "stride", dT=stride[0], dH=stride[1], dW=stride[2])
    t, h, w = dilation
    check_positive(15, "dilation", ", ", dilationT=t, dilationH=h, dilationW=w)
    _check_bias(bias, weight.sizes[0])
    return _check_dilated(input, grad_output, weight, kernel, stride, padding, dilation)


def _check_extra(extra: Sizes, stride: Sizes, dilation: Sizes, names: Sequence[str]) -> None:
    """Raise an error where what is added to the size of a result is too large."""
    fits = (e < s or e < d for e, s, d in zip(extra, stride, dilation, strict=True))
    got = " ".join(
        f"{name}: {number}"
        for name, number in zip(names, (*extra, *stride, *dilation), strict=True)
    )
    message = f"output padding must be smaller than either stride or dilation, but got {got}"
    check(all(fits), 15, message)


def _check_full(
    input: Tensor, grad_output: Tensor | None, weight: Tensor, *numbers: Sizes
) -> Shape:
    """The checks of sizes that images and volumes share."""
    kernel, stride, padding, dilation, extra = numbers
    dims = len(kernel)
    (maps, planes), count = weight.sizes[:2], input.sizes[-dims:]
    size = full_size(count, kernel, stride, padding, dilation, extra)
    if min(size) < 1:
        raise too_small((maps, *count), (planes, *size), " x " if dims == 2 else "x")
    check_size("input", input, input.ndim, input.ndim - dims - 1, maps)
    check_gradient(grad_output, input, (planes, *size))
    windows = Windows.of(size, kernel, stride, padding, dilation, count)
    shape = Shape(input.sizes[: -dims - 1], planes, maps, size, count, windows)
    check_depth(weight, shape)
    return shape


@remembered
def _check_full_image(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    kernel, stride, padding, dilation, extra = _in_order(numbers, 2)
    check_positive(9, "kernel size", kH=kernel[0], kW=kernel[1])
    check_positive(11, "stride", dH=stride[0], dW=stride[1])
    check_positive(15, "dilation", ", ", dilationH=dilation[0], dilationW=dilation[1])
    _check_extra(extra, stride, dilation, ("adjH", "adjW", "dH", "dW", "dilationH", "dilationW"))
    check(weight.ndim in (2, 4), 5, "2D or 4D weight tensor expected, but got: %s", weight)
    _check_bias(bias, weight.sizes[1])
    check(input.ndim in (3, 4), 2, _IMAGE, input)
    return _check_full(input, grad_output, weight, kernel, stride, padding, dilation, extra)


@remembered
def _check_full_volume(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    check(input.ndim in (4, 5), 2, _VOLUME, input)
    check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
    stride, padding, dilation, extra = _in_order(numbers, 3)
    check_positive(11, "stride", dT=stride[0], dH=stride[1], dW=stride[2])
    t, h, w = dilation
    check_positive(15, "dilation", ", ", dilationT=t, dilationH=h, dilationW=w)
    names = [f"{what}{d}" for what in ("a", "d", "dilation") for d in "THW"]
    _check_extra(extra, stride, dilation, names)
    _check_bias(bias, weight.sizes[1])
    kernel = weight.sizes[2:]
    return _check_full(input, grad_output, weight, kernel, stride, padding, dilation, extra)


# -- the functions


def _add_rows(
    name: str,
    numbers: str,
    sizes_of: Check,
    buffers: tuple[str, str],
    full: bool,
    ones_in_backward: bool = False,
) -> None:
    """Add the rows of a layer.

    numbers: the parameters that are numbers. buffers: the names of the columns in updateGradInput,
    and of what follows it there, if that is a parameter. full: whether maps are the input.
    """
    forward_pass, backward_pass = (_expand, _reduce) if full else (_reduce, _expand)
    columns_name, ones_name = buffers

    @thnn(
        f"{name}_updateOutput",
        "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, "
        f"THTensor *{columns_name}, THTensor *{ones_name}, {numbers}",
    )
    def forward(
        input: Tensor,
        output: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        columns: Tensor,
        ones: Tensor,
        *given: int,
    ) -> None:
        """output = bias + the convolution of input with weight."""
        shape = sizes_of(input, None, weight, bias, given)
        forward_pass(shape, input, output, weight, bias, columns)
        _fill_ones(ones, shape.size if full else shape.count)

    ones_parameter = f"THTensor *{ones_name}, " if ones_in_backward else ""

    @thnn(
        f"{name}_updateGradInput",
        "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
        f"THTensor *{columns_name}, {ones_parameter}{numbers}",
    )
    def backward(
        input: Tensor,
        grad_output: Tensor,
        gradient: Tensor,
        weight: Tensor,
        columns: Tensor,
        *given: Any,
    ) -> None:
        """gradInput from gradOutput and weight."""
        shape = sizes_of(input, grad_output, weight, None, given[ones_in_backward:])
        backward_pass(shape, grad_output, gradient, weight, None, columns)

    @thnn(
        f"{name}_accGradParameters",
        "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
        f"THTensor *{columns_name}, THTensor *{ones_name}, {numbers}, accreal scale",
    )
    def accumulate(
        input: Tensor,
        grad_output: Tensor,
        grad_weight: Tensor,
        grad_bias: Tensor | None,
        columns: Tensor,
        ones: Tensor,
        *given: Any,
    ) -> None:
        """Add scale times the gradients to gradWeight and gradBias."""
        *sizes, scale = given
        shape = sizes_of(input, grad_output, grad_weight, grad_bias, tuple(sizes))
        _check_contiguous(grad_weight, grad_bias)
        images, maps = (grad_output, input) if full else (input, grad_output)
        gradients = (grad_weight, grad_bias)
        _accumulate(shape, images, maps, grad_output, gradients, scale, columns)
        _fill_ones(ones, shape.size if full else shape.count)


def _undilated(sizes_of: Check, dims: int) -> Check:
    """The check of a full convolution without the numbers of the dilation, which is 1."""

    def check_sizes(
        input: Tensor,
        grad_output: Tensor | None,
        weight: Tensor,
        bias: Tensor | None,
        numbers: Numbers,
    ) -> Shape:
        numbers = (*numbers[:-dims], *(1,) * dims, *numbers[-dims:])
        return sizes_of(input, grad_output, weight, bias, numbers)

    return check_sizes


_IMAGE_NUMBERS = "int kW, int kH, int dW, int dH, int padW, int padH"
_VOLUME_STEPS = "int dT, int dW, int dH, int pT, int pW, int pH"
_DILATION = ", int dilationW, int dilationH"
_VOLUME_DILATION = ", int dilationT, int dilationW, int dilationH"

_add_rows(
    "SpatialDilatedConvolution",
    _IMAGE_NUMBERS + _DILATION,
    _check_dilated_image,
    ("columns", "ones"),
    full=False,
)
_add_rows(
    "VolumetricDilatedConvolution",
    "int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH"
    + _VOLUME_DILATION,
    _check_dilated_volume,
    ("columns", "ones"),
    full=False,
)
_add_rows(
    "SpatialFullDilatedConvolution",
    _IMAGE_NUMBERS + _DILATION + ", int adjW, int adjH",
    _check_full_image,
    ("columns", "ones"),
    full=True,
)
_add_rows(
    "SpatialFullConvolution",
    _IMAGE_NUMBERS + ", int adjW, int adjH",
    _undilated(_check_full_image, 2),
    ("columns", "ones"),
    full=True,
)
_add_rows(
    "VolumetricFullDilatedConvolution",
    _VOLUME_STEPS + _VOLUME_DILATION + ", int aT, int aW, int aH",
    _check_full_volume,
    ("finput", "fgradInput"),
    full=True,
    ones_in_backward=True,
)
_add_rows(
    "VolumetricFullConvolution",
    _VOLUME_STEPS + ", int aT, int aW, int aH",
    _undilated(_check_full_volume, 3),
    ("finput", "fgradInput"),
    full=True,
    ones_in_backward=True,
)
