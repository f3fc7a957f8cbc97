"""SpatialGridSamplerBilinear: an image at the points of a grid, interpolated linearly.

A point is (x, y), each from -1 to 1: these are the middles of the image's first and last elements.
Outside of the image all elements are 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn


@thnn(
    "SpatialGridSamplerBilinear_updateOutput",
    "input, grid, output",
    repeats=False,
)
def sample(call: Call) -> None:
    """output = the input at the points of the grid."""
    _check_grid(call.input, call.grid)
    values = np.zeros((*call.input.sizes[:2], *call.grid.sizes[1:3]), call.input.dtype.numpy)
    for x, points, out in zip(call.input.array, call.grid.array, values, strict=True):
        flat = x.reshape(len(x), -1)
        for weight, _, _, inside, at in _corners(x.shape[1], x.shape[2], points):
            out += np.where(inside, flat[:, at], 0) * weight
    call.output.resize(values.shape)
    call.output.array[...] = values


@thnn(
    "SpatialGridSamplerBilinear_updateGradInput",
    "input, gradInput, grid, gradGrid, gradOutput",
    repeats=False,
)
def sample_backward(call: Call) -> None:
    """gradInput and gradGrid = the gradients of both."""
    _check_grid(call.input, call.grid)
    sizes = (*call.input.sizes[:2], *call.grid.sizes[1:3])
    for dim, size in enumerate(sizes):
        check_size("gradOutput", call.gradOutput, 4, dim, size)
    result = np.zeros(call.input.sizes, call.input.dtype.numpy)
    of_points = np.zeros(call.grid.sizes, call.input.dtype.numpy)
    scale = np.array([call.input.sizes[3] - 1, call.input.sizes[2] - 1], result.dtype)
    samples = call.input.array, call.grid.array, call.gradOutput.array, result, of_points
    for x, points, g, out, to in zip(*samples, strict=True):
        flat, total = x.reshape(len(x), -1), out.reshape(len(x), -1)
        for weight, by_x, by_y, inside, at in _corners(x.shape[1], x.shape[2], points):
            for channel, part in zip(total, weight * g, strict=True):
                np.add.at(channel, at[inside], part[inside])
            products = (np.where(inside, flat[:, at], 0) * g).sum(axis=0)
            to[..., 0] += products * by_x
            to[..., 1] += products * by_y
    call.gradInput.resize(call.input.sizes)
    call.gradInput.array[...] = result
    call.gradGrid.resize(call.grid.sizes)
    call.gradGrid.array[...] = of_points * scale / 2


def _check_grid(input: Tensor, grid: Tensor) -> None:
    check(input.ndim == 4, 2, "4D input tensor expected but got: %s", input)
    check(grid.ndim == 4, 2, "4D grid tensor expected but got: %s", grid)
    check_size("grid", grid, 4, 0, input.sizes[0])
    check_size("grid", grid, 4, 3, 2)


def _corners(
    height: int, width: int, points: Array
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """What the elements around each point are: their weights, these by x and by y, and places.

    Places are those in an image's row of elements; which of them are in the image, is told, too.
    """
    x = (points[..., 0] + 1) / 2 * (width - 1)
    y = (points[..., 1] + 1) / 2 * (height - 1)
    left, top = np.floor(x), np.floor(y)
    for below in (0, 1):
        by_y = y - top if below else top + 1 - y
        for right in (0, 1):
            by_x = x - left if right else left + 1 - x
            column, row = left + right, top + below
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            at = np.where(inside, row * width + column, 0).astype(np.int64)
            yield by_x * by_y, by_y if right else -by_y, by_x if below else -by_x, inside, at
