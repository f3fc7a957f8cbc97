"""Adaptive pooling of images: so many windows as the output has elements cover each plane evenly.

Indices of adaptive max pooling tell the largest element's row and column in its window, from 1: a
tensor of both, for all outputs.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._jobs import contiguous, result, run, working
from runtime.thnn._largest import add_by_place
from runtime.thnn._planes import average, average_backward, find_largest
from runtime.thnn._shapes import check_like, positive
from runtime.thnn._windows import Axis, Plan, make_plan
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn

_LOWEST = float(-np.finfo(np.float32).max)  # Torch7: of doubles, too


def _check_input(input: Tensor) -> None:
    check(
        input.ndim in (3, 4),
        2,
        "3D or 4D (batch mode) tensor expected for input, but got: %s",
        input,
    )


# -- averages


@thnn(
    "SpatialAdaptiveAveragePooling_updateOutput",
    "THTensor *input, THTensor *output, int owidth, int oheight",
    repeats=True,
)
def adaptive_average(call: Call) -> None:
    """output = the averages of height x width windows."""
    _check_input(call.input)
    positive(4, "output size", "oheight owidth", (call.oheight, call.owidth))
    plan = _average_plan(call.input.sizes[-2:], (call.oheight, call.owidth))
    x = contiguous(call.input)
    with result(call.output, (*call.input.sizes[:-2], call.oheight, call.owidth)) as values:
        average(x, plan, values)


@thnn(
    "SpatialAdaptiveAveragePooling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput",
    repeats=True,
)
def adaptive_average_backward(call: Call) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    windows = _check_gradient(call.input, call.gradOutput)
    plan, g = _average_plan(call.input.sizes[-2:], windows), contiguous(call.gradOutput)
    with result(call.gradInput, call.input.sizes) as values:
        average_backward(values, plan, g)


def _check_gradient(input: Tensor, grad_output: Tensor) -> Sizes:
    """The windows of a gradient. Torch7 looks at no sizes here, and may read beyond the end."""
    _check_input(input)
    windows = grad_output.sizes[-2:]
    check_size("gradOutput", grad_output, input.ndim, 0, input.sizes[0])
    check_like(input, windows, gradOutput=grad_output)
    return windows


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
    "THTensor *input, THTensor *output, THIndexTensor *indices, int owidth, int oheight",
    repeats=True,
)
def adaptive_max(call: Call) -> None:
    """output = the largest elements of height x width windows, and indices where they are."""
    _check_input(call.input)
    positive(5, "output size", "oheight owidth", (call.oheight, call.owidth))
    columns = _max_axes(call.input.sizes[-2:], (call.oheight, call.owidth))[1].counts
    x, sizes = contiguous(call.input), (*call.input.sizes[:-2], call.oheight, call.owidth)
    with result(call.output, sizes) as values, result(call.indices, (2, *sizes)) as places:
        order = working(len(values), np.int64)
        plan = _max_plan(call.input.sizes[-2:], (call.oheight, call.owidth))
        find_largest(x, plan, values, order, lowest=_LOWEST, none=-1)
        run(
            "nn_rows",
            len(order),
            out=places,
            source=order,
            count=len(order),
            columns=columns,
            width=call.owidth,
        )


@thnn(
    "SpatialAdaptiveMaxPooling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices",
    repeats=True,
)
def adaptive_max_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _check_gradient(call.input, call.gradOutput)
    for dim, size in enumerate((2, *call.gradOutput.sizes)):
        check_size("indices", call.indices, call.input.ndim + 1, dim, size)
    both, count = contiguous(call.indices), call.gradOutput.nelement
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
    add_by_place(places, call.input, call.gradOutput, call.gradInput, 2)


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
