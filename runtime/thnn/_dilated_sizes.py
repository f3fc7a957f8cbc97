"""The checks of dilated and full convolutions, which return the sizes of a call.

Numbers that a function gets are in the order of its parameters: width before height.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtime.core.errors import ArgError
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._convolution import (
    Check,
    Shape,
    check_depth,
    check_gradient,
    check_positive,
    count_places,
    full_size,
    remembered,
    too_small,
)
from runtime.thnn._geometry import Windows
from runtime.thnn._shapes import Numbers, in_order
from runtime.thnn.checks import check, check_size

_IMAGE = "3D or 4D input tensor expected but got: %s"
_VOLUME = "4D or 5D (batch mode) tensor expected for input, but got: %s"
_VOLUME_WEIGHT = (
    "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for weight, but got: %s"
)


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
def check_dilated_image(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    message = "4D weight tensor (nOutputPlane,nInputPlane,kH,kW) expected, but got: %s"
    check(weight.ndim == 4, 4, message, weight)
    kernel, stride, padding, dilation = in_order(numbers, 2)
    check_positive(9, "kernel size", kH=kernel[0], kW=kernel[1])
    check_positive(11, "stride", dH=stride[0], dW=stride[1])
    check_positive(15, "dilation", ", ", dilationH=dilation[0], dilationW=dilation[1])
    _check_bias(bias, weight.sizes[0])
    check(input.ndim in (3, 4), 2, _IMAGE, input)
    return _check_dilated(input, grad_output, weight, kernel, stride, padding, dilation)


@remembered
def check_dilated_volume(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    check(input.ndim in (4, 5), 2, _VOLUME, input)
    check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
    kernel, stride, padding, dilation = in_order(numbers, 3)
    check_positive(8, "kernel size", kT=kernel[0], kH=kernel[1], kW=kernel[2])
    check_positive(11, "stride", dT=stride[0], dH=stride[1], dW=stride[2])
    t, h, w = dilation
    check_positive(15, "dilation", ", ", dilationT=t, dilationH=h, dilationW=w)
    _check_bias(bias, weight.sizes[0])
    return _check_dilated(input, grad_output, weight, kernel, stride, padding, dilation)


def _check_extra(extra: Sizes, stride: Sizes, dilation: Sizes, names: Sequence[str]) -> None:
    """Raise an error where what is added to the size of a result is too large."""
    numbers = zip(extra, stride, dilation, strict=True)
    if not all(e < s or e < d for e, s, d in numbers):
        values = zip(names, (*extra, *stride, *dilation), strict=True)
        got = " ".join(f"{name}: {number}" for name, number in values)
        message = f"output padding must be smaller than either stride or dilation, but got {got}"
        raise ArgError(15, message)


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
def check_full_image(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    kernel, stride, padding, dilation, extra = in_order(numbers, 2)
    check_positive(9, "kernel size", kH=kernel[0], kW=kernel[1])
    check_positive(11, "stride", dH=stride[0], dW=stride[1])
    check_positive(15, "dilation", ", ", dilationH=dilation[0], dilationW=dilation[1])
    _check_extra(extra, stride, dilation, ("adjH", "adjW", "dH", "dW", "dilationH", "dilationW"))
    check(weight.ndim in (2, 4), 5, "2D or 4D weight tensor expected, but got: %s", weight)
    _check_bias(bias, weight.sizes[1])
    check(input.ndim in (3, 4), 2, _IMAGE, input)
    return _check_full(input, grad_output, weight, kernel, stride, padding, dilation, extra)


@remembered
def check_full_volume(
    input: Tensor,
    grad_output: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    numbers: Numbers,
) -> Shape:
    check(input.ndim in (4, 5), 2, _VOLUME, input)
    check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
    stride, padding, dilation, extra = in_order(numbers, 3)
    check_positive(11, "stride", dT=stride[0], dH=stride[1], dW=stride[2])
    t, h, w = dilation
    check_positive(15, "dilation", ", ", dilationT=t, dilationH=h, dilationW=w)
    names = [f"{what}{d}" for what in ("a", "d", "dilation") for d in "THW"]
    _check_extra(extra, stride, dilation, names)
    _check_bias(bias, weight.sizes[1])
    kernel = weight.sizes[2:]
    return _check_full(input, grad_output, weight, kernel, stride, padding, dilation, extra)


def undilated(sizes_of: Check, dims: int) -> Check:
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
