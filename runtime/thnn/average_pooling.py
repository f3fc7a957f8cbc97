"""Average pooling of images and volumes, with windows that slide over a plane."""

from __future__ import annotations

import math
from functools import lru_cache

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._jobs import contiguous, result
from runtime.thnn._planes import average, average_backward
from runtime.thnn._shapes import Numbers, check_like, image_windows, in_order, positive, windows_of
from runtime.thnn._windows import Plan, make_plan, padded
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

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
@thnn("VolumetricAveragePooling_updateOutput", _FORWARD + _VOLUME, repeats=True)
def forward(call: Call) -> None:
    """output = the average of each window; count_include_pad: zeros of the padding count, too."""
    plan, windows = _planned(call)
    x, sizes = contiguous(call.input), call.input.sizes
    with result(call.output, (*sizes[: -len(windows)], *windows)) as values:
        average(x, plan, values)


@thnn("SpatialAveragePooling_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
@thnn("VolumetricAveragePooling_updateGradInput", _BACKWARD + _VOLUME, repeats=True)
def backward(call: Call) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    plan, windows = _planned(call)
    check_like(call.input, windows, gradOutput=call.gradOutput)
    planes = math.prod(call.input.sizes[: -len(windows)])
    g = contiguous(call.gradOutput, planes * plan.out_plane)
    with result(call.gradInput, call.input.sizes) as values:
        average_backward(values, plan, g)


def _planned(call: Call) -> tuple[Plan, Sizes]:
    dims = len(call.numbers) // 3
    kernel, stride, pad = in_order(call.numbers, dims)
    if dims == 2:
        windows = image_windows(call.input.sizes, kernel, stride, pad, call.ceil_mode)
    else:
        windows = _volume_windows(call.input, kernel, stride, pad, call.ceil_mode)
    sizes = call.input.sizes[-dims:]
    return _plan(sizes, windows, kernel, stride, pad, call.count_include_pad), windows


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
