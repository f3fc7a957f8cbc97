"""Max pooling of volumes: indices hold the largest element's place in its window, from 0.

The places along time, height and width are the three lowest bytes of the whole number, in this
order. All three are 255 where no element is above the lowest finite number.
"""

from __future__ import annotations

from functools import lru_cache

from runtime.core.tensor import Sizes, describe
from runtime.thnn._jobs import contiguous, result, run
from runtime.thnn._largest import add_by_place, indices_of, sliding_plan
from runtime.thnn._planes import find_largest, places_in_volume
from runtime.thnn._shapes import Numbers, check_like, in_order, positive, windows_of
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_WINDOW = ", int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH"
_DILATION = ", int dilationT, int dilationW, int dilationH"
_CEIL = ", bool ceilMode"
_NONE = 0xFFFFFF


@thnn("VolumetricMaxPooling_updateOutput", _FORWARD + _WINDOW + _CEIL, repeats=True)
@thnn(
    "VolumetricDilatedMaxPooling_updateOutput", _FORWARD + _WINDOW + _DILATION + _CEIL, repeats=True
)
def volumetric(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the window."""
    windows, numbers = _windows(call)
    plan = sliding_plan(call.input.sizes[-3:], windows, *numbers, "volume")
    x, sizes = contiguous(call.input), (*call.input.sizes[:-3], *windows)
    with result(call.output, sizes) as values, result(call.indices, sizes) as places:
        find_largest(x, plan, values, places, none=_NONE)
        # The plan's codes increase from element to element: time is their third byte.
        run("nn_swap", len(places), at=places)


@thnn("VolumetricMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _CEIL, repeats=True)
@thnn(
    "VolumetricDilatedMaxPooling_updateGradInput",
    _BACKWARD + _WINDOW + _DILATION + _CEIL,
    repeats=True,
)
def volumetric_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows, (_, stride, pad, dilation) = _windows(call)
    check_like(call.input, windows, gradOutput=call.gradOutput, indices=call.indices)
    sizes, found = call.input.sizes[-3:], indices_of(call.indices, call.input, windows)
    places = places_in_volume(found, sizes, windows, stride, pad, dilation)
    add_by_place(places, call.input, call.gradOutput, call.gradInput, 3)


def _windows(call: Call) -> tuple[Sizes, tuple[Numbers, Numbers, Numbers, Numbers]]:
    """How many windows there are, and their kernel, stride, padding and dilation."""
    kernel, stride, pad, dilation = (*in_order(call.numbers, 3), (1, 1, 1))[:4]
    windows = _counted(call.input.sizes, kernel, stride, pad, dilation, call.ceilMode)
    return windows, (kernel, stride, pad, dilation)


@lru_cache(maxsize=64)
def _counted(
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
