"""Average pooling of images and volumes, with windows that slide, or that divide a plane evenly."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._planes import average, average_backward, contiguous, result
from runtime.thnn._shapes import Numbers, check_like, image_windows, positive, windows_of
from runtime.thnn._windows import Axis, Plan, make_plan, padded
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

__all__: list[str] = []

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_IMAGE = (
    ", int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad"
)
_VOLUME = (
    ", int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, "
    "bool ceil_mode, bool count_include_pad"
)


@thnn("SpatialAveragePooling_updateOutput", _FORWARD + _IMAGE)
def spatial(
    input: Tensor,
    output: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
    count_pad: bool,
) -> None:
    """output = the average of each window; count_include_pad: zeros of the padding count, too."""
    kernel, stride, pad = (k_h, k_w), (d_h, d_w), (pad_h, pad_w)
    windows = image_windows(input, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-2:], windows, kernel, stride, pad, count_pad)
    _store_averages(input, output, plan, windows)


@thnn("SpatialAveragePooling_updateGradInput", _BACKWARD + _IMAGE)
def spatial_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    k_w: int,
    k_h: int,
    d_w: int,
    d_h: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
    count_pad: bool,
) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    kernel, stride, pad = (k_h, k_w), (d_h, d_w), (pad_h, pad_w)
    windows = image_windows(input, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-2:], windows, kernel, stride, pad, count_pad)
    _store_gradient(input, grad_output, gradient, plan, windows)


@thnn("VolumetricAveragePooling_updateOutput", _FORWARD + _VOLUME)
def volumetric(
    input: Tensor,
    output: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    pad_t: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
    count_pad: bool,
) -> None:
    """output = the average of each window; count_include_pad: zeros of the padding count, too."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (pad_t, pad_h, pad_w)
    windows = _volume_windows(input, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-3:], windows, kernel, stride, pad, count_pad)
    _store_averages(input, output, plan, windows)


@thnn("VolumetricAveragePooling_updateGradInput", _BACKWARD + _VOLUME)
def volumetric_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    pad_t: int,
    pad_w: int,
    pad_h: int,
    ceil: bool,
    count_pad: bool,
) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (pad_t, pad_h, pad_w)
    windows = _volume_windows(input, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-3:], windows, kernel, stride, pad, count_pad)
    _store_gradient(input, grad_output, gradient, plan, windows)


def _volume_windows(
    input: Tensor, kernel: Numbers, stride: Numbers, pad: Numbers, ceil: bool
) -> Sizes:
    positive(5, "kernel size", "kT kH kW", kernel)
    positive(8, "stride", "dT dH dW", stride)
    check(
        input.ndim in (4, 5),
        2,
        "4D or 5D (batch mode) tensor expected for input, but got: %s",
        input,
    )
    (t, h, w), (k_t, k_h, k_w), (pad_t, pad_h, pad_w) = input.sizes[-3:], kernel, pad
    check(
        w >= k_w and h >= k_h and t >= k_t,
        2,
        f"input image (T: {t} H: {h} W: {w}) smaller than kernel size (kT: {k_t} kH: {k_h} "
        f"kW: {k_w})",
    )
    check(
        all(k // 2 >= p for k, p in zip(kernel, pad, strict=True)),
        11,
        f"pad should not be greater than half of kernel size, but got padT = {pad_t}, "
        f"padW = {pad_w}, padH = {pad_h}, kT = {k_t}, kW = {k_w}, kH = {k_h}",
    )
    return windows_of(input, kernel, stride, pad, ceil, (1, 1, 1))


@lru_cache(maxsize=32)
def _plan(
    sizes: Sizes, windows: Sizes, kernel: Numbers, stride: Numbers, pad: Numbers, count_pad: bool
) -> Plan:
    numbers = zip(sizes, windows, kernel, stride, pad, strict=True)
    return make_plan([padded(*n, count_pad) for n in numbers], "order")


def _store_averages(input: Tensor, output: Tensor, plan: Plan, windows: Sizes) -> None:
    x = contiguous(input)
    with result(output, (*input.sizes[: -len(windows)], *windows)) as values:
        average(x, plan, values)


def _store_gradient(
    input: Tensor, grad_output: Tensor, gradient: Tensor, plan: Plan, windows: Sizes
) -> None:
    check_like(input, windows, gradOutput=grad_output)
    g = contiguous(grad_output)
    with result(gradient, input.sizes) as values:
        average_backward(values, plan, g)


@thnn("SpatialAdaptiveAveragePooling_updateOutput", _FORWARD + ", int owidth, int oheight")
def adaptive(input: Tensor, output: Tensor, width: int, height: int) -> None:
    """output = the averages of height x width windows, which cover each plane."""
    check(
        input.ndim in (3, 4),
        2,
        "3D or 4D (batch mode) tensor expected for input, but got: %s",
        input,
    )
    positive(4, "output size", "oheight owidth", (height, width))
    plan = _adaptive_plan(input.sizes[-2:], (height, width))
    _store_averages(input, output, plan, (height, width))


@thnn("SpatialAdaptiveAveragePooling_updateGradInput", _BACKWARD)
def adaptive_backward(input: Tensor, grad_output: Tensor, gradient: Tensor) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    # Torch7 looks at no sizes here.
    check(
        input.ndim in (3, 4),
        2,
        "3D or 4D (batch mode) tensor expected for input, but got: %s",
        input,
    )
    windows = grad_output.sizes[-2:]
    check_like(input, windows, gradOutput=grad_output)
    _store_gradient(
        input, grad_output, gradient, _adaptive_plan(input.sizes[-2:], windows), windows
    )


@lru_cache(maxsize=32)
def _adaptive_plan(sizes: Sizes, windows: Sizes) -> Plan:
    return make_plan([_evenly(*n) for n in zip(sizes, windows, strict=True)], "order")


def _evenly(size: int, windows: int) -> Axis:
    """Windows that cover a dimension. Torch7: quotients are floats of 32 bits."""
    edges = (np.arange(windows + 1) * size).astype(np.float32) / np.float32(windows)
    start, end = (x.astype(np.int64) for x in (np.floor(edges[:-1]), np.ceil(edges[1:])))
    return Axis(size, start, end - start, end - start, np.zeros_like(start))
