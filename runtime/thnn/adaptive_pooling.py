"""Adaptive pooling of images: so many windows as the output has elements cover each plane evenly.

Indices of adaptive max pooling tell the largest element's row and column in its window, from 1: a
tensor of both, for all outputs.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._largest import add_by_place
from runtime.thnn._planes import average, average_backward, contiguous, find_largest, result
from runtime.thnn._shapes import check_like, positive
from runtime.thnn._windows import Axis, Plan, make_plan
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import thnn

__all__: list[str] = []

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
)
def adaptive_average(input: Tensor, output: Tensor, width: int, height: int) -> None:
    """output = the averages of height x width windows."""
    _check_input(input)
    positive(4, "output size", "oheight owidth", (height, width))
    plan = _average_plan(input.sizes[-2:], (height, width))
    x = contiguous(input)
    with result(output, (*input.sizes[:-2], height, width)) as values:
        average(x, plan, values)


@thnn(
    "SpatialAdaptiveAveragePooling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput",
)
def adaptive_average_backward(input: Tensor, grad_output: Tensor, gradient: Tensor) -> None:
    """gradInput = what each element's windows got in gradOutput, divided likewise."""
    windows = _check_gradient(input, grad_output)
    plan, g = _average_plan(input.sizes[-2:], windows), contiguous(grad_output)
    with result(gradient, input.sizes) as values:
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
)
def adaptive_max(input: Tensor, output: Tensor, indices: Tensor, width: int, height: int) -> None:
    """output = the largest elements of height x width windows, and indices where they are."""
    _check_input(input)
    positive(5, "output size", "oheight owidth", (height, width))
    axes = _max_axes(input.sizes[-2:], (height, width))
    x, sizes = contiguous(input), (*input.sizes[:-2], height, width)
    with result(output, sizes) as values, result(indices, (2, *sizes)) as places:
        order = np.empty(len(values), np.int64)
        plan = _max_plan(input.sizes[-2:], (height, width))
        find_largest(x, plan, values, order, lowest=_LOWEST, none=-1)
        columns = axes[1].counts
        order = order.reshape(sizes)
        column = np.fmod(order, columns)  # -1 is divided as C does it
        rows, of_row = places.reshape(2, *sizes)
        rows[...] = (order - column) // columns + 1
        of_row[...] = column + 1


@thnn(
    "SpatialAdaptiveMaxPooling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices",
)
def adaptive_max_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, indices: Tensor
) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _check_gradient(input, grad_output)
    for dim, size in enumerate((2, *grad_output.sizes)):
        check_size("indices", indices, input.ndim + 1, dim, size)
    y, x = _max_axes(input.sizes[-2:], windows)
    row, column = contiguous(indices).reshape(2, *grad_output.sizes)
    places = (row - 1 + y.starts[:, None]) * input.sizes[-1] + column + x.starts
    add_by_place(np.where(places == 0, -1, places).ravel(), input, grad_output, gradient, 2)


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
