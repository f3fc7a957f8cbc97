"""Max pooling of volumes: indices hold the largest element's place in its window, from 0.

The places along time, height and width are the three lowest bytes of the whole number, in this
order. All three are 255 where no element is above the lowest finite number.
"""

from __future__ import annotations

from functools import lru_cache

from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._jobs import contiguous, result, run
from runtime.thnn._largest import add_by_place, indices_of, sliding_plan
from runtime.thnn._planes import find_largest, places_in_volume
from runtime.thnn._shapes import Numbers, check_like, positive, windows_of
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_WINDOW = ", int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH"
_DILATION = ", int dilationT, int dilationW, int dilationH"
_CEIL = ", bool ceilMode"
_NONE = 0xFFFFFF


@thnn("VolumetricMaxPooling_updateOutput", _FORWARD + _WINDOW + _CEIL, repeats=True)
def volumetric(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    p_t: int,
    p_w: int,
    p_h: int,
    ceil: bool,
) -> None:
    """output = the largest element of each window, and indices its place in the window."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (p_t, p_h, p_w)
    _store(input, output, indices, kernel, stride, pad, (1, 1, 1), ceil)


@thnn(
    "VolumetricDilatedMaxPooling_updateOutput", _FORWARD + _WINDOW + _DILATION + _CEIL, repeats=True
)
def volumetric_dilated(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    p_t: int,
    p_w: int,
    p_h: int,
    dilation_t: int,
    dilation_w: int,
    dilation_h: int,
    ceil: bool,
) -> None:
    """Likewise, of elements that are `dilation` apart."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (p_t, p_h, p_w)
    dilation = dilation_t, dilation_h, dilation_w
    _store(input, output, indices, kernel, stride, pad, dilation, ceil)


def _store(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    dilation: Numbers,
    ceil: bool,
) -> None:
    windows = _windows(input.sizes, kernel, stride, pad, dilation, ceil)
    plan = sliding_plan(input.sizes[-3:], windows, kernel, stride, pad, dilation, "volume")
    x, sizes = contiguous(input), (*input.sizes[:-3], *windows)
    with result(output, sizes) as values, result(indices, sizes) as places:
        find_largest(x, plan, values, places, none=_NONE)
        # The plan's codes increase from element to element: time is their third byte.
        run("nn_swap", len(places), at=places)


@lru_cache(maxsize=64)
def _windows(
    sizes: Sizes, kernel: Numbers, stride: Numbers, pad: Numbers, dilation: Numbers, ceil: bool
) -> Sizes:
    positive(5, "kernel size", "kT kH kW", kernel)
    positive(8, "stride", "dT dH dW", stride)
    positive(14, "dilation", "dilationT dilationH dilationW", dilation, zero="0")
    check(
        len(sizes) in (4, 5),
        2,
        f"4D or 5D (batch mode) tensor expected for input, but got: {describe(sizes)}",
    )
    (k_t, k_h, k_w), (p_t, p_h, p_w) = kernel, pad
    check(
        all(k // 2 >= p for k, p in zip(kernel, pad, strict=True)),
        2,
        f"pad should be smaller than half of kernel size, but got kT: {k_t} kW: {k_w}, kH: {k_h}, "
        f"padT: {p_t}, padW: {p_w}, padH: {p_h}",
    )
    return windows_of(sizes, kernel, stride, pad, ceil, dilation)


@thnn("VolumetricMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _CEIL, repeats=True)
def volumetric_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    p_t: int,
    p_w: int,
    p_h: int,
    ceil: bool,
) -> None:
    """gradInput = the sums of gradOutput by indices."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (p_t, p_h, p_w)
    _add(input, grad_output, gradient, indices, kernel, stride, pad, (1, 1, 1), ceil)


@thnn(
    "VolumetricDilatedMaxPooling_updateGradInput",
    _BACKWARD + _WINDOW + _DILATION + _CEIL,
    repeats=True,
)
def volumetric_dilated_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    k_t: int,
    k_w: int,
    k_h: int,
    d_t: int,
    d_w: int,
    d_h: int,
    p_t: int,
    p_w: int,
    p_h: int,
    dilation_t: int,
    dilation_w: int,
    dilation_h: int,
    ceil: bool,
) -> None:
    """Likewise."""
    kernel, stride, pad = (k_t, k_h, k_w), (d_t, d_h, d_w), (p_t, p_h, p_w)
    dilation = dilation_t, dilation_h, dilation_w
    _add(input, grad_output, gradient, indices, kernel, stride, pad, dilation, ceil)


def _add(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    dilation: Numbers,
    ceil: bool,
) -> None:
    windows = _windows(input.sizes, kernel, stride, pad, dilation, ceil)
    check_like(input, windows, gradOutput=grad_output, indices=indices)
    sizes, found = input.sizes[-3:], indices_of(indices, input, windows)
    places = places_in_volume(found, sizes, windows, stride, pad, dilation)
    add_by_place(places, input, grad_output, gradient, 3)
