"""Max pooling of images, volumes and sequences; what indices tell is as in the reference.

Of images: the place of the largest element in its plane, from 1; 0 if a window has none. Of
volumes: its place in the window along three dimensions, from 0, each in a byte. Of sequences: the
frame in the window, from 0.
"""

from __future__ import annotations

import math
from functools import lru_cache

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._planes import contiguous, find_largest, result, scatter
from runtime.thnn._shapes import Numbers, check_like, image_windows
from runtime.thnn._windows import Codes, Plan, dilated, make_plan
from runtime.thnn.table import thnn

__all__: list[str] = []

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_WINDOW = ", int kW, int kH, int dW, int dH, int padW, int padH"
_DILATION = ", int dilationW, int dilationH"
_CEIL = ", bool ceil_mode"


@thnn("SpatialMaxPooling_updateOutput", _FORWARD + _WINDOW + _CEIL)
def spatial(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
) -> None:
    """output = the largest element of each window, and indices its place in the plane."""
    _images(input, output, indices, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), (1, 1), ceil)


@thnn("SpatialDilatedMaxPooling_updateOutput", _FORWARD + _WINDOW + _DILATION + _CEIL)
def spatial_dilated(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    dilation_w: int,
    dilation_h: int,
    ceil: bool,
) -> None:
    """Likewise, of elements that are `dilation` apart."""
    dilation = dilation_h, dilation_w
    _images(input, output, indices, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), dilation, ceil)


def _images(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    dilation: Numbers,
    ceil: bool,
) -> None:
    windows = image_windows(input, kernel, stride, pad, ceil, dilation)
    plan = _plan(input.sizes[-2:], windows, kernel, stride, pad, dilation, "place")
    _store_largest(input, output, indices, plan, windows)


@lru_cache(maxsize=32)
def _plan(
    sizes: Sizes,
    windows: Sizes,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    dilation: Numbers,
    codes: Codes,
) -> Plan:
    numbers = zip(sizes, windows, kernel, stride, pad, dilation, strict=True)
    volume = codes == "volume"
    return make_plan([dilated(s, n, k, d, p, a, volume) for s, n, k, d, p, a in numbers], codes)


def _store_largest(
    input: Tensor, output: Tensor, indices: Tensor, plan: Plan, windows: Sizes, none: int = 0
) -> None:
    x = contiguous(input)
    sizes = (*input.sizes[: input.ndim - len(windows)], *windows)
    with result(output, sizes) as values, result(indices, sizes) as places:
        find_largest(x, plan, values, places, none=none)


@thnn("SpatialMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _CEIL)
def spatial_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = image_windows(input, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), ceil)
    _images_backward(input, grad_output, gradient, indices, windows)


@thnn("SpatialDilatedMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _DILATION + _CEIL)
def spatial_dilated_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    dilation_w: int,
    dilation_h: int,
    ceil: bool,
) -> None:
    """Likewise."""
    dilation = dilation_h, dilation_w
    windows = image_windows(input, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), ceil, dilation)
    _images_backward(input, grad_output, gradient, indices, windows)


def _images_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, indices: Tensor, windows: Sizes
) -> None:
    check_like(input, windows, gradOutput=grad_output, indices=indices)
    _add_by_place(contiguous(indices), input, grad_output, gradient, len(windows))


def _add_by_place(
    places: Array, input: Tensor, grad_output: Tensor, gradient: Tensor, dims: int
) -> None:
    """gradInput = the sums of gradOutput by places in the plane, which has so many dimensions."""
    g = contiguous(grad_output)
    planes = math.prod(input.sizes[:-dims])
    try:
        with result(gradient, input.sizes) as out:
            scatter(g, places, planes, out, add=True, skip=True)
    except IndexError:
        raise TorchError("indices must be places in the input's planes") from None
