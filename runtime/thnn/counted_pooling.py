"""Pooling into so many windows as a call asks for: adaptive pooling, and fractional max pooling.

Adaptive windows cover each plane of images evenly. Indices of adaptive max pooling tell the largest
element's row and column in its window, from 1: a tensor of both, for all outputs.

Fractional max pooling has windows of one size at places that random samples tell, for each plane.
Its indices tell the largest element's place in its plane, from 1.
"""

import math
from functools import lru_cache

import numpy as np

from th_shell.runtime.core.dtypes import Array, cut
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, contiguous_strides
from th_shell.runtime.thnn._planes import (
    Axis,
    Plan,
    find_largest,
    make_plan,
    plan_of_places,
    scatter,
)
from th_shell.runtime.thnn.checks import (
    Numbers,
    check,
    check_batch,
    check_like,
    check_size,
    positive,
    size_of,
)
from th_shell.runtime.thnn.pooling import (
    add_by_place,
    given_indices,
    places_of,
    share_averages,
    store_averages,
)
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn, unrepeated

_LOWEST = float(-np.finfo(np.float32).max)  # Torch7: of doubles, too


def _check_windows(call: Call, position: int) -> Sizes:
    """Return the numbers of windows that a call asks for. position: that of the first argument."""
    check_batch(call.input, 2)
    windows = call.oheight, call.owidth
    positive(position, "output size", "oheight owidth", windows)
    return windows


def _check_gradient(call: Call) -> Sizes:
    """The windows of a gradient. Torch7 looks at no sizes here, and may read beyond the end."""
    check_batch(call.input, 2)
    windows = call.gradOutput.sizes[-2:]
    check_size("gradOutput", call.gradOutput, call.input.ndim, 0, call.input.sizes[0])
    check_like(call.input, windows, gradOutput=call.gradOutput)
    return windows


# -- averages


@thnn("SpatialAdaptiveAveragePooling_updateOutput", f"{FORWARD}, int owidth, int oheight")
def adaptive_average(call: Call) -> None:
    """output = the averages of height x width windows."""
    windows = _check_windows(call, 4)
    store_averages(call, _average_plan(call.input.sizes[-2:], windows), windows)


@thnn("SpatialAdaptiveAveragePooling_updateGradInput", BACKWARD)
def adaptive_average_backward(call: Call) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    windows = _check_gradient(call)
    share_averages(call, _average_plan(call.input.sizes[-2:], windows), windows)


@lru_cache(maxsize=32)
def _average_plan(sizes: Sizes, windows: Sizes) -> Plan:
    axes = []
    for size, count in zip(sizes, windows, strict=True):
        # Torch7: the quotients are floats of 32 bits.
        edges = (np.arange(count + 1) * size).astype(np.float32) / np.float32(count)
        axes.append(_axis(size, edges[:-1], edges[1:]))
    return make_plan(axes, "order")


def _axis(size: int, first: Array, last: Array) -> Axis:
    start, end = np.floor(first).astype(np.int64), np.ceil(last).astype(np.int64)
    return Axis(size, start, end - start, end - start, np.zeros_like(start))


# -- largest elements


@unrepeated(
    "SpatialAdaptiveMaxPooling_updateOutput",
    f"{FORWARD}, THIndexTensor *indices, int owidth, int oheight",
)
def adaptive_max(call: Call) -> None:
    """output = the largest elements of height x width windows, and indices where they are."""
    windows, plane = _check_windows(call, 5), call.input.sizes[-2:]
    x, sizes = call.read(call.input), (*call.input.sizes[:-2], *windows)
    values, places = call.write(call.output, sizes), call.write(call.indices, (2, *sizes))
    order = np.empty(sizes, np.int64)
    find_largest(x, _max_plan(plane, windows), values, order, lowest=_LOWEST, none=-1)
    columns = _max_axes(plane, windows)[1].counts
    rows = np.trunc(order / columns).astype(np.int64)
    places[0], places[1] = rows + 1, order - rows * columns + 1


@unrepeated("SpatialAdaptiveMaxPooling_updateGradInput", f"{BACKWARD}, THIndexTensor *indices")
def adaptive_max_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _check_gradient(call)
    for dim, size in enumerate((2, *call.gradOutput.sizes)):
        check_size("indices", call.indices, call.input.ndim + 1, dim, size)
    rows, columns = call.read(call.indices).reshape(2, -1, *windows)
    width, (y, x) = call.input.sizes[-1], _max_axes(call.input.sizes[-2:], windows)
    starts = np.add.outer((y.starts - 1) * width, x.starts)
    add_by_place(call, places_of(rows * np.float64(width) + columns + starts), 2)


@lru_cache(maxsize=32)
def _max_axes(sizes: Sizes, windows: Sizes) -> tuple[Axis, ...]:
    axes = []
    for size, count in zip(sizes, windows, strict=True):
        # Torch7: the quotients are floats of 32 bits, which are multiplied.
        edges = np.arange(count + 1, dtype=np.float32) / np.float32(count) * np.float32(size)
        axes.append(_axis(size, edges[:-1], edges[1:]))
    return tuple(axes)


@lru_cache(maxsize=32)
def _max_plan(sizes: Sizes, windows: Sizes) -> Plan:
    return make_plan(_max_axes(sizes, windows), "order")


# -- fractional max pooling

_OF_IMAGES = "int outputW, int outputH, int poolSizeW, int poolSizeH, THIndexTensor *indices"
_OF_VOLUMES = (
    "int outputT, int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, "
    "THIndexTensor *indices"
)


@unrepeated("SpatialFractionalMaxPooling_updateOutput", f"{FORWARD}, {_OF_IMAGES}, randomSamples")
@unrepeated(
    "VolumetricFractionalMaxPooling_updateOutput", f"{FORWARD}, {_OF_VOLUMES}, randomSamples"
)
def fractional_max(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the plane.

    A volume is height x width x time here. randomSamples: for each plane one sample for the width,
    and one for the height; of volumes, one for the time before these.
    """
    dims = len(call.numbers) // 2
    check_batch(call.input, dims)
    windows, pool = call.numbers[dims - 1 :: -1], call.numbers[: dims - 1 : -1]
    _check_pools(call, windows, pool)
    _store(call, windows, pool)


def _check_pools(call: Call, windows: Numbers, pool: Numbers) -> None:
    dims = len(windows)
    names = ("height", "width", "time")[:dims]
    for k, (name, size) in enumerate(zip(names, call.input.sizes[-dims:], strict=True)):
        check(
            windows[k] + pool[k] - 1 < size,
            2 * dims + 3 - k,
            f"poolSize{name[0].upper()} ({pool[k]}) too large relative to input {name} ({size})",
        )
    letters = " ".join(f"output{name[0].upper()}" for name in names)
    positive(4, "output size", letters, windows)
    positive(6, "pool size", letters.replace("output", "poolSize"), pool)


def _store(call: Call, windows: Sizes, pool: Numbers) -> None:
    input, samples = call.input, call.randomSamples
    dims = len(windows)
    sizes = input.sizes[-dims:]
    planes = math.prod(input.sizes[:-dims])
    if samples.nelement < planes * dims:
        raise TorchError(
            f"randomSamples must have {planes * dims} elements, but has {samples.nelement}"
        )
    drawn = call.read(samples, planes * dims).reshape(planes, dims)
    plan = plan_of_places(sizes, windows, pool)
    places, numbers = np.zeros((planes, 1), np.int64), zip(sizes, windows, pool, strict=True)
    for d, (size, count, width) in enumerate(numbers):
        starts = _starts(drawn[:, dims - 1 - d], count, size - width)
        if not ((starts >= 0) & (starts <= size - width)).all():
            name = "hwt"[d]
            raise TorchError(f"Assertion `{name}2 >= 0 && {name}2 < input{name.upper()}' failed. ")
        along = starts * contiguous_strides(sizes)[d]
        places = (places[:, :, None] + along[:, None, :]).reshape(planes, -1)
    tables = [plan.table, places, places + 1, np.arange(plan.out_plane)]
    rows = [np.broadcast_to(x, (planes, x.shape[-1])) for x in tables]
    plans = np.concatenate(rows, axis=1).astype(np.int32)
    x, all_sizes = call.read(input), (*input.sizes[:-dims], *windows)
    values, indices = call.write(call.output, all_sizes), call.write(call.indices, all_sizes)
    find_largest(x, plan, values, indices, plans=plans)
    if indices.min() <= 0:
        raise TorchError("Assertion `maxVal != -THInf' failed. ")


def _starts(samples: Array, windows: int, room: int) -> Array:
    """The starts of windows along a dimension, for the sample of each plane: planes x windows.

    The sample moves all but the last one, which begins at `room`.
    """
    starts = np.full((len(samples), windows), room, np.int64)
    if windows > 1:
        step = samples.dtype.type(room / (windows - 1))
        moved = np.arange(windows - 1, dtype=samples.dtype) + samples[:, None]
        starts[:, :-1] = cut(moved * step, 8) - cut(samples * step, 8)[:, None]
    return starts


@thnn("SpatialFractionalMaxPooling_updateGradInput", f"{BACKWARD}, {_OF_IMAGES}")
@thnn("VolumetricFractionalMaxPooling_updateGradInput", f"{BACKWARD}, {_OF_VOLUMES}")
def fractional_max_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    input, dims = call.input, len(call.numbers) // 2
    if input.ndim not in (dims + 1, dims + 2):
        raise TorchError(f"{dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    names = ("time", "width", "height")[-dims:]
    for k, name in enumerate(names):
        width = size_of(call.gradOutput, input.ndim - k - 1)
        check(width == call.numbers[k], 3, f"gradOutput {name} unexpected")
    windows = call.gradOutput.sizes[input.ndim - dims : input.ndim]
    check_like(input, windows, gradOutput=call.gradOutput, indices=call.indices)
    places = given_indices(call, windows)
    g, planes = call.read(call.gradOutput, len(places)), math.prod(input.sizes[:-dims])
    try:
        scatter(g, places, planes, call.write(call.gradInput, input.sizes), add=True)
    except IndexError:
        limit = " * ".join(f"input{name[0].upper()}" for name in names)
        raise TorchError(f"Assertion `index >= 0 && index < {limit}' failed. ") from None
