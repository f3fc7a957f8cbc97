"""Average pooling of images and volumes, with windows that slide over a plane."""

from __future__ import annotations

import math
from functools import lru_cache

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._jobs import contiguous, result
from runtime.thnn._planes import average, average_backward
from runtime.thnn._shapes import Numbers, check_like, image_windows, positive, windows_of
from runtime.thnn._windows import Plan, make_plan, padded
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_IMAGE = (
    ", int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad"
)
_VOLUME = (
    ", int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, "
    "bool ceil_mode, bool count_include_pad"
)


@thnn("SpatialAveragePooling_updateOutput", _FORWARD + _IMAGE, repeats=True)
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
    windows = image_windows(input.sizes, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-2:], windows, kernel, stride, pad, count_pad)
    _store_averages(input, output, plan, windows)


@thnn("SpatialAveragePooling_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
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
    windows = image_windows(input.sizes, kernel, stride, pad, ceil)
    plan = _plan(input.sizes[-2:], windows, kernel, stride, pad, count_pad)
    _store_gradient(input, grad_output, gradient, plan, windows)


@thnn("VolumetricAveragePooling_updateOutput", _FORWARD + _VOLUME, repeats=True)
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


@thnn("VolumetricAveragePooling_updateGradInput", _BACKWARD + _VOLUME, repeats=True)
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
    return windows_of(input.sizes, kernel, stride, pad, ceil, (1, 1, 1))


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
    g = contiguous(grad_output, math.prod(input.sizes[: -len(windows)]) * plan.out_plane)
    with result(gradient, input.sizes) as values:
        average_backward(values, plan, g)
