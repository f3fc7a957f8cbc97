"""Max and average pooling by windows that slide over images, volumes and sequences.

What indices of max pooling tell of the largest element of a window:

    images      its place in the plane, from 1; 0 where no element is above the lowest finite number
    volumes     its place in the window, from 0: those along time, height and width are the three
                lowest bytes, in this order; all three are 255 where there is none
    sequences   in which frame of the window it is, from 0; -1 where there is none
"""

import math
from functools import lru_cache

import numpy as np

from th_shell.runtime.core.dtypes import Array, cut
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, describe
from th_shell.runtime.thnn._convolution import check_found
from th_shell.runtime.thnn._planes import (
    Codes,
    Plan,
    average,
    average_backward,
    count_windows,
    dilated,
    find_largest,
    make_plan,
    padded,
    places_in_volume,
    scatter,
)
from th_shell.runtime.thnn.checks import Numbers, check, check_batch, check_like, in_order, positive
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn, unrepeated

_IMAGE = "int kW, int kH, int dW, int dH, int padW, int padH"
_IMAGE_DILATION = "int dilationW, int dilationH"
_KERNEL = "int kT, int kW, int kH, int dT, int dW, int dH"
_VOLUME = f"THIndexTensor *indices, {_KERNEL}, int pT, int pW, int pH"
_VOLUME_DILATION = "int dilationT, int dilationW, int dilationH"
_AVERAGE = "bool ceil_mode, bool count_include_pad"
_AVERAGE_VOLUME = f"{_KERNEL}, int padT, int padW, int padH, {_AVERAGE}"
_SEQUENCE = "THIndexTensor *indices, int kW, int dW"
_NO_INDEX = 0xFFFFFF  # of volumes

Steps = tuple[Numbers, Numbers, Numbers, Numbers]  # kernel, stride, padding, dilation


# -- how many windows there are


@lru_cache(maxsize=64)
def _count_in_images(sizes: Sizes, steps: Steps, ceil: bool) -> Sizes:
    """Count the windows of an input along height and width; raise the errors of all numbers."""
    kernel, stride, pad, dilation = steps
    positive(5, "kernel size", "k", kernel)
    positive(8, "stride", "d", stride)
    positive(12, "dilation", "dilation", dilation)
    check(len(sizes) in (3, 4), 2, f"3D or 4D input tensor expected but got: {describe(sizes)}")
    (h, w), (pad_h, pad_w) = kernel, pad
    check(
        w // 2 >= pad_w and h // 2 >= pad_h,
        2,
        "pad should be smaller than half of kernel size, but got "
        f"padW = {pad_w}, padH = {pad_h}, kW = {w}, kH = {h}",
    )
    return _count(sizes, steps, ceil)


@lru_cache(maxsize=64)
def _count_in_volumes(sizes: Sizes, steps: Steps, ceil: bool, averages: bool) -> Sizes:
    """Count the windows along time, height and width. averages: for average pooling."""
    kernel, stride, pad, dilation = steps
    (k_t, k_h, k_w), (p_t, p_h, p_w) = kernel, pad
    positive(5, "kernel size", "k", kernel)
    positive(8, "stride", "d", stride)
    positive(14, "dilation", "dilation", dilation, zero="0")
    message = f"4D or 5D (batch mode) tensor expected for input, but got: {describe(sizes)}"
    check(len(sizes) in (4, 5), 2, message)
    fits = all(k // 2 >= p for k, p in zip(kernel, pad, strict=True))
    if averages:
        t, h, w = sizes[-3:]
        check(
            w >= k_w and h >= k_h and t >= k_t,
            2,
            f"input image (T: {t} H: {h} W: {w}) smaller than kernel size (kT: {k_t} kH: {k_h} "
            f"kW: {k_w})",
        )
        check(
            fits,
            11,
            f"pad should not be greater than half of kernel size, but got padT = {p_t}, "
            f"padW = {p_w}, padH = {p_h}, kT = {k_t}, kW = {k_w}, kH = {k_h}",
        )
    check(
        fits,
        2,
        f"pad should be smaller than half of kernel size, but got kT: {k_t} kW: {k_w}, kH: {k_h}, "
        f"padT: {p_t}, padW: {p_w}, padH: {p_h}",
    )
    return _count(sizes, steps, ceil)


def _count(sizes: Sizes, steps: Steps, ceil: bool) -> Sizes:
    """Count the windows along each dimension of an input's planes."""
    dims = len(steps[0])
    pads, counts = any(steps[2]), []
    for size, k, d, p, apart in zip(sizes[-dims:], *steps, strict=True):
        windows = count_windows(size, k, d, p, apart, ceil)
        # The last one begins inside of the plane, or the padding in front of it.
        counts.append(windows - (pads and (windows - 1) * d >= size + p))
    planes = sizes[-dims - 1]
    check_found(sizes[-dims:], tuple(counts), planes, planes, close=True)
    return tuple(counts)


def _image_windows(call: Call) -> tuple[Sizes, Steps]:
    kernel, stride, pad, dilation = (*in_order(call.numbers, 2), (1, 1))[:4]
    steps = kernel, stride, pad, dilation
    return _count_in_images(call.input.sizes, steps, call.ceil_mode), steps


def _volume_windows(call: Call, averages: bool = False) -> tuple[Sizes, Steps]:
    kernel, stride, pad, dilation = (*in_order(call.numbers, 3), (1, 1, 1))[:4]
    steps = kernel, stride, pad, dilation
    ceil = call.ceil_mode if averages else call.ceilMode
    return _count_in_volumes(call.input.sizes, steps, ceil, averages), steps


# -- the largest elements


@lru_cache(maxsize=32)
def _largest_plan(sizes: Sizes, windows: Sizes, steps: Steps, codes: Codes) -> Plan:
    numbers = zip(sizes, windows, *steps, strict=True)
    volume = codes == "volume"
    return make_plan([dilated(s, n, k, d, p, a, volume) for s, n, k, d, p, a in numbers], codes)


def _store_largest(call: Call, plan: Plan, windows: Sizes, none: int = 0) -> Array:
    """output and indices of the windows; returns these."""
    x = call.read(call.input)
    sizes = (*call.input.sizes[: -len(windows)], *windows)
    values, places = call.write(call.output, sizes), call.write(call.indices, sizes)
    find_largest(x, plan, values, places, none=none)
    return places


@thnn(
    "SpatialMaxPooling_updateOutput", f"{FORWARD}, THIndexTensor *indices, {_IMAGE}, bool ceil_mode"
)
@thnn(
    "SpatialDilatedMaxPooling_updateOutput",
    f"{FORWARD}, THIndexTensor *indices, {_IMAGE}, {_IMAGE_DILATION}, bool ceil_mode",
)
def largest_of_images(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the plane."""
    windows, steps = _image_windows(call)
    plan = _largest_plan(call.input.sizes[-2:], windows, steps, "place")
    _store_largest(call, plan, windows)


@unrepeated("VolumetricMaxPooling_updateOutput", f"{FORWARD}, {_VOLUME}, bool ceilMode")
@unrepeated(
    "VolumetricDilatedMaxPooling_updateOutput",
    f"{FORWARD}, {_VOLUME}, {_VOLUME_DILATION}, bool ceilMode",
)
def largest_of_volumes(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the window."""
    windows, steps = _volume_windows(call)
    plan = _largest_plan(call.input.sizes[-3:], windows, steps, "volume")
    places = _store_largest(call, plan, windows, _NO_INDEX)
    # The plan's codes increase from element to element: time is their third byte.
    places[...] = places >> 16 | places & 0xFF00 | (places & 0xFF) << 16


@thnn("TemporalMaxPooling_updateOutput", f"{FORWARD}, {_SEQUENCE}")
def largest_of_sequences(call: Call) -> None:
    """output = the largest element of each feature in each window of frames."""
    windows = _sequence_windows(call)
    steps = (call.kW, 1), (call.dW, 1), (0, 0), (1, 1)
    plan = _largest_plan(call.input.sizes[-2:], windows, steps, "order")
    _store_largest(call, plan, windows, -1)


def _sequence_windows(call: Call) -> Sizes:
    """Count windows of frames, and features; raise the errors of all numbers."""
    k, d = call.kW, call.dW
    positive(5, "kernel size", "k", (k,))
    positive(6, "stride", "d", (d,))
    check_batch(call.input, 1)
    frames, features = call.input.sizes[-2:]
    check(frames >= k, 2, f"input sequence smaller than kernel size. Got: {frames}, Expected: {k}")
    return (frames - k) // d + 1, features


# -- their gradients


def given_indices(call: Call, windows: Sizes) -> Array:
    """The indices for the input's planes. There may be more of them, which are not looked at."""
    count = math.prod(call.input.sizes[: -len(windows)]) * math.prod(windows)
    return call.read(call.indices, count)


def add_by_place(call: Call, places: Array, dims: int) -> None:
    """gradInput = the sums of gradOutput by places in the plane, which has so many dimensions."""
    g = call.read(call.gradOutput, len(places))
    planes = math.prod(call.input.sizes[:-dims])
    try:
        scatter(
            g, places, planes, call.write(call.gradInput, call.input.sizes), add=True, skip=True
        )
    except IndexError:
        raise TorchError("indices must be places in the input's planes") from None


@thnn(
    "SpatialMaxPooling_updateGradInput",
    f"{BACKWARD}, THIndexTensor *indices, {_IMAGE}, bool ceil_mode",
)
@thnn(
    "SpatialDilatedMaxPooling_updateGradInput",
    f"{BACKWARD}, THIndexTensor *indices, {_IMAGE}, {_IMAGE_DILATION}, bool ceil_mode",
)
def add_to_images(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows, _ = _image_windows(call)
    check_like(call.input, windows, gradOutput=call.gradOutput, indices=call.indices)
    add_by_place(call, given_indices(call, windows), 2)


@unrepeated("VolumetricMaxPooling_updateGradInput", f"{BACKWARD}, {_VOLUME}, bool ceilMode")
@unrepeated(
    "VolumetricDilatedMaxPooling_updateGradInput",
    f"{BACKWARD}, {_VOLUME}, {_VOLUME_DILATION}, bool ceilMode",
)
def add_to_volumes(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows, (_, *steps) = _volume_windows(call)
    check_like(call.input, windows, gradOutput=call.gradOutput, indices=call.indices)
    indices = given_indices(call, windows)
    add_by_place(call, places_in_volume(indices, call.input.sizes[-3:], windows, *steps), 3)


@unrepeated("TemporalMaxPooling_updateGradInput", f"{BACKWARD}, {_SEQUENCE}")
def add_to_sequences(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _sequence_windows(call)
    check_like(call.input, windows, planes=False, gradOutput=call.gradOutput, indices=call.indices)
    frames = given_indices(call, windows).reshape(-1, *windows)
    count, features = windows
    starts = np.arange(count)[:, None] * call.dW * features + np.arange(features) + 1
    places = places_of(frames * np.float64(features) + starts)
    places[frames.reshape(-1) == -1] = 0
    add_by_place(call, places, 2)


def places_of(numbers: Array) -> Array:
    """Places in planes, from 1, as whole numbers; -1 for 0, which would stand for no element."""
    places = cut(numbers, 8).reshape(-1)
    places[places == 0] = -1
    return places


# -- averages


@lru_cache(maxsize=32)
def _average_plan(sizes: Sizes, windows: Sizes, steps: Steps, count_pad: bool) -> Plan:
    numbers = zip(sizes, windows, *steps[:3], strict=True)
    return make_plan([padded(*n, count_pad) for n in numbers], "order")


def _planned(call: Call) -> tuple[Plan, Sizes]:
    is_image = len(call.numbers) == 6
    windows, steps = _image_windows(call) if is_image else _volume_windows(call, averages=True)
    sizes = call.input.sizes[-len(windows) :]
    return _average_plan(sizes, windows, steps, call.count_include_pad), windows


def store_averages(call: Call, plan: Plan, windows: Sizes) -> None:
    """output = the averages of the windows of a plan."""
    x = call.read(call.input)
    average(x, plan, call.write(call.output, (*call.input.sizes[: -len(windows)], *windows)))


def share_averages(call: Call, plan: Plan, windows: Sizes) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    g = call.read(call.gradOutput, math.prod(call.input.sizes[: -len(windows)]) * plan.out_plane)
    average_backward(call.write(call.gradInput, call.input.sizes), plan, g)


@thnn("SpatialAveragePooling_updateOutput", f"{FORWARD}, {_IMAGE}, {_AVERAGE}")
@thnn("VolumetricAveragePooling_updateOutput", f"{FORWARD}, {_AVERAGE_VOLUME}")
def averages(call: Call) -> None:
    """output = the average of each window; count_include_pad: zeros of the padding count, too."""
    store_averages(call, *_planned(call))


@thnn("SpatialAveragePooling_updateGradInput", f"{BACKWARD}, {_IMAGE}, {_AVERAGE}")
@thnn("VolumetricAveragePooling_updateGradInput", f"{BACKWARD}, {_AVERAGE_VOLUME}")
def averages_backward(call: Call) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    plan, windows = _planned(call)
    check_like(call.input, windows, gradOutput=call.gradOutput)
    share_averages(call, plan, windows)
