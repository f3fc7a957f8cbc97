"""Adaptive pooling of images: so many windows as the output has elements cover each plane evenly.

Indices of adaptive max pooling tell the largest element's row and column in its window, from 1: a
tensor of both, for all outputs.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Sizes
from th_shell.runtime.thnn._jobs import run, working
from th_shell.runtime.thnn._planes import find_largest
from th_shell.runtime.thnn._windows import Axis, Plan, make_plan
from th_shell.runtime.thnn.checks import check_batch, check_like, check_size, positive
from th_shell.runtime.thnn.pooling import add_by_place, share_averages, store_averages
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn

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


@thnn(
    "SpatialAdaptiveMaxPooling_updateOutput",
    f"{FORWARD}, THIndexTensor *indices, int owidth, int oheight",
)
def adaptive_max(call: Call) -> None:
    """output = the largest elements of height x width windows, and indices where they are."""
    windows, plane = _check_windows(call, 5), call.input.sizes[-2:]
    x, sizes = call.read(call.input), (*call.input.sizes[:-2], *windows)
    values, places = call.write(call.output, sizes), call.write(call.indices, (2, *sizes))
    order = working(values.size, np.int64)
    find_largest(x, _max_plan(plane, windows), values, order, lowest=_LOWEST, none=-1)
    run(
        "nn_rows",
        len(order),
        out=places,
        source=order,
        count=len(order),
        columns=_max_axes(plane, windows)[1].counts,
        width=call.owidth,
    )


@thnn("SpatialAdaptiveMaxPooling_updateGradInput", f"{BACKWARD}, THIndexTensor *indices")
def adaptive_max_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _check_gradient(call)
    for dim, size in enumerate((2, *call.gradOutput.sizes)):
        check_size("indices", call.indices, call.input.ndim + 1, dim, size)
    both, count = call.read(call.indices), call.gradOutput.nelement
    places = working(count, np.int64)
    run(
        "nn_places",
        count,
        out=places,
        first=both,
        apart=count,
        factors=(call.input.sizes[-1], 1),
        starts=_starts(call.input.sizes[-2:], windows),
        count=math.prod(windows),
        skip=0,
    )
    add_by_place(call, places, 2)


@lru_cache(maxsize=32)
def _max_axes(sizes: Sizes, windows: Sizes) -> tuple[Axis, ...]:
    axes = []
    for size, count in zip(sizes, windows, strict=True):
        # Torch7: the quotients are floats of 32 bits, which are multiplied.
        edges = np.arange(count + 1, dtype=np.float32) / np.float32(count) * np.float32(size)
        axes.append(_axis(size, edges[:-1], edges[1:]))
    return tuple(axes)


@lru_cache(maxsize=32)
def _starts(sizes: Sizes, windows: Sizes) -> Array:
    """The place in the plane of each window's first element, less a row."""
    y, x = _max_axes(sizes, windows)
    starts: Array = np.add.outer((y.starts - 1) * sizes[-1], x.starts).ravel().astype(np.float64)
    return starts


@lru_cache(maxsize=32)
def _max_plan(sizes: Sizes, windows: Sizes) -> Plan:
    return make_plan(_max_axes(sizes, windows), "order")
