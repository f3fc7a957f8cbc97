"""SpatialGridSamplerBilinear: an image at the points of a grid, interpolated linearly.

A point is (x, y), each from -1 to 1: these are the middles of the image's first and last elements.
Outside of the image all elements are 0. The loops are jobs of ``lua/parallel/nn_places.lua``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Sizes
from th_shell.runtime.thnn._convolution import fill_rows
from th_shell.runtime.thnn._jobs import run
from th_shell.runtime.thnn.checks import check, check_size
from th_shell.runtime.thnn.table import Call, thnn


@thnn("SpatialGridSamplerBilinear_updateOutput", "input, grid, output")
def sample(call: Call) -> None:
    """output = the input at the points of the grid."""
    sizes = _checked(call)
    x, grid = call.read(call.input), call.read(call.grid)
    _run("nn_grid", x, grid, output=call.write(call.output, sizes))


@thnn("SpatialGridSamplerBilinear_updateGradInput", "input, gradInput, grid, gradGrid, gradOutput")
def sample_backward(call: Call) -> None:
    """gradInput and gradGrid = the gradients of both."""
    for dim, size in enumerate(_checked(call)):
        check_size("gradOutput", call.gradOutput, 4, dim, size)
    x, grid, g = (call.read(t) for t in (call.input, call.grid, call.gradOutput))
    out, to = call.write(call.gradInput, x.shape), call.write(call.gradGrid, grid.shape)
    fill_rows(out)
    _run("nn_grid_back", x, grid, grads=g, gradient=out, toGrid=to)


def _checked(call: Call) -> Sizes:
    """The sizes of the result."""
    input, grid = call.input, call.grid
    check(input.ndim == 4, 2, "4D input tensor expected but got: %s", input)
    check(grid.ndim == 4, 2, "4D grid tensor expected but got: %s", grid)
    check_size("grid", grid, 4, 0, input.sizes[0])
    check_size("grid", grid, 4, 3, 2)
    return (*input.sizes[:2], *grid.sizes[1:3])


def _run(job: str, x: Array, grid: Array, **parameters: Any) -> None:
    samples, planes, height, width = x.shape
    points = prod(grid.shape[1:3])
    run(
        job,
        samples,
        work=samples * planes * points,
        size=x.itemsize,
        input=x,
        grid=grid,
        planes=planes,
        height=height,
        width=width,
        points=points,
        **parameters,
    )
