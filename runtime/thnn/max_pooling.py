"""Max pooling of images: indices tell the place of the largest element in its plane, from 1.

A window without one, which is above the lowest finite number, has the index 0.
"""

from __future__ import annotations

from runtime.core.tensor import Sizes
from runtime.thnn._largest import add_by_place, indices_of, sliding_plan, store_largest
from runtime.thnn._shapes import Numbers, check_like, image_windows, in_order
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_WINDOW = ", int kW, int kH, int dW, int dH, int padW, int padH"
_DILATION = ", int dilationW, int dilationH"
_CEIL = ", bool ceil_mode"


@thnn("SpatialMaxPooling_updateOutput", _FORWARD + _WINDOW + _CEIL, repeats=True)
@thnn("SpatialDilatedMaxPooling_updateOutput", _FORWARD + _WINDOW + _DILATION + _CEIL, repeats=True)
def spatial(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the plane."""
    windows, numbers = _windows(call)
    plan = sliding_plan(call.input.sizes[-2:], windows, *numbers, "place")
    store_largest(call.input, call.output, call.indices, plan, windows)


@thnn("SpatialMaxPooling_updateGradInput", _BACKWARD + _WINDOW + _CEIL, repeats=True)
@thnn(
    "SpatialDilatedMaxPooling_updateGradInput",
    _BACKWARD + _WINDOW + _DILATION + _CEIL,
    repeats=True,
)
def spatial_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows, _ = _windows(call)
    check_like(call.input, windows, gradOutput=call.gradOutput, indices=call.indices)
    places = indices_of(call.indices, call.input, windows)
    add_by_place(places, call.input, call.gradOutput, call.gradInput, 2)


def _windows(call: Call) -> tuple[Sizes, tuple[Numbers, Numbers, Numbers, Numbers]]:
    """How many windows there are, and their kernel, stride, padding and dilation."""
    kernel, stride, pad, dilation = (*in_order(call.numbers, 2), (1, 1))[:4]
    windows = image_windows(call.input.sizes, kernel, stride, pad, call.ceil_mode, dilation)
    return windows, (kernel, stride, pad, dilation)
