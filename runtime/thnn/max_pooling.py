"""Max pooling of images: indices tell the place of the largest element in its plane, from 1.

A window without one, which is above the lowest finite number, has the index 0.
"""

from __future__ import annotations

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._largest import add_by_place, indices_of, sliding_plan, store_largest
from runtime.thnn._shapes import Numbers, check_like, image_windows
from runtime.thnn.table import thnn

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_WINDOW = ", int kW, int kH, int dW, int dH, int padW, int padH"
_DILATION = ", int dilationW, int dilationH"
_CEIL = ", bool ceil_mode"


@thnn("SpatialMaxPooling_updateOutput", _FORWARD + _WINDOW + _CEIL, repeats=True)
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


@thnn("SpatialDilatedMaxPooling_updateOutput", _FORWARD + _WINDOW + _DILATION + _CEIL, repeats=True)
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
    windows = image_windows(input.sizes, kernel, stride, pad, ceil, dilation)
    plan = sliding_plan(input.sizes[-2:], windows, kernel, stride, pad, dilation, "place")
    store_largest(input, output, indices, plan, windows)


@thnn("SpatialMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _CEIL, repeats=True)
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
    windows = image_windows(input.sizes, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), ceil)
    _images_backward(input, grad_output, gradient, indices, windows)


@thnn(
    "SpatialDilatedMaxPooling_updateGradInput",
    _BACKWARD + _WINDOW + _DILATION + _CEIL,
    repeats=True,
)
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
    windows = image_windows(input.sizes, (k_h, k_w), (d_h, d_w), (pad_h, pad_w), ceil, dilation)
    _images_backward(input, grad_output, gradient, indices, windows)


def _images_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, indices: Tensor, windows: Sizes
) -> None:
    check_like(input, windows, gradOutput=grad_output, indices=indices)
    add_by_place(indices_of(indices, input, windows), input, grad_output, gradient, len(windows))
