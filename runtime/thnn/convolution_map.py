"""SpatialConvolutionMap and SpatialFullConvolutionMap: kernels for some pairs of planes.

The table of connections has a row for each kernel: the numbers, from 1, of its input plane and its
output plane. Output planes that are connected with the same input planes are computed together.
"""

from __future__ import annotations

from math import prod

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.thnn import _columns
from runtime.thnn._connections import (
    Group,
    check_count,
    check_planes,
    check_table,
    groups_of,
    packed,
    windows_of_full,
    windows_on,
)
from runtime.thnn._geometry import Windows
from runtime.thnn._jobs import adding, read, run, working, writing
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_NUMBERS = "THTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH"
_FORWARD = f"THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, {_NUMBERS}"
_BACKWARD = (
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    f"THTensor *bias?, {_NUMBERS}"
)
_ACCUMULATE = (
    "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, "
    f"{_NUMBERS}, accreal scale"
)


@thnn("SpatialConvolutionMap_updateOutput", _FORWARD, repeats=True)
def forward(call: Call) -> None:
    """output = bias + the correlations of connected planes with their kernels."""
    check_table(call.weight, call.connTable, 4, "weight")
    check(call.input.ndim in (3, 4), 2, "3D or 4D(batch mode) tensor expected")
    check(call.input.sizes[-3] >= call.nInputPlane, 2, "invalid number of input planes")
    size, kernel = call.input.sizes[-2:], call.weight.sizes[1:]
    check(size[0] >= kernel[0] and size[1] >= kernel[1], 2, "input image smaller than kernel size")
    windows = windows_on(size, kernel, (call.dH, call.dW))
    groups = list(groups_of(call.connTable, call.nInputPlane, call.nOutputPlane))
    check_count(call.bias, call.nOutputPlane)
    x, w, b = (read(t, call.output) for t in (call.input, call.weight, call.bias))
    x = packed(x.reshape(-1, *x.shape[-3:]), call.nInputPlane)
    sizes = (*call.input.sizes[:-3], call.nOutputPlane, *windows.count[1:])
    with writing((call.output, sizes)) as (result,):
        out = result.reshape(len(x), call.nOutputPlane, -1)
        _fill(out, b)
        for group in groups:
            _add_reduced(windows, group, x, w, out)


@thnn("SpatialConvolutionMap_updateGradInput", _BACKWARD, repeats=True)
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check_table(call.weight, call.connTable, 5, "weight")
    windows = windows_on(call.input.sizes[-2:], call.weight.sizes[1:], (call.dH, call.dW))
    check_planes(
        "input", call.input, call.input.ndim, call.nInputPlane, call.input.sizes[-2:], more=True
    )
    check_planes(
        "gradOutput", call.gradOutput, call.input.ndim, call.nOutputPlane, windows.count[1:]
    )
    groups = list(groups_of(call.connTable, call.nInputPlane, call.nOutputPlane))
    g, w = (read(t, call.gradInput) for t in (call.gradOutput, call.weight))
    g = g.reshape(-1, *g.shape[-3:])
    with writing((call.gradInput, call.input.sizes)) as (result,):
        images = result.reshape(-1, *result.shape[-3:])
        _fill(images, None)
        for group in groups:
            _add_expanded(windows, group, g, w, packed(images, call.nInputPlane))


@thnn("SpatialConvolutionMap_accGradParameters", _ACCUMULATE, repeats=True)
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check_table(call.gradWeight, call.connTable, 5, "gradWeight")
    windows = windows_on(
        call.input.sizes[-2:], call.gradWeight.sizes[1:], (call.dH, call.dW), exact=True
    )
    check(call.gradWeight.is_contiguous, 4, "gradWeight needs to be contiguous")
    check(call.gradBias.is_contiguous, 5, "gradBias needs to be contiguous")
    check_planes(
        "input", call.input, call.input.ndim, call.nInputPlane, call.input.sizes[-2:], more=True
    )
    check_planes(
        "gradOutput", call.gradOutput, call.input.ndim, call.nOutputPlane, windows.count[1:]
    )
    gradients = (call.gradWeight, call.gradBias)
    _weigh(
        windows,
        call.input,
        call.gradOutput,
        gradients,
        call.connTable,
        call.nInputPlane,
        call.scale,
        False,
    )


@thnn("SpatialFullConvolutionMap_updateOutput", _FORWARD, repeats=True)
def full_forward(call: Call) -> None:
    """output = bias + the full convolutions of connected planes with their kernels."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    check_table(call.weight, call.connTable, 4, "weight")
    check(call.input.ndim == 3, 2, "3D tensor expected")
    check(call.input.sizes[0] >= call.nInputPlane, 2, "invalid number of input planes")
    windows = windows_of_full(call.input.sizes[1:], call.weight.sizes[1:], (call.dH, call.dW))
    groups = list(groups_of(call.connTable, call.nInputPlane, call.nOutputPlane, full=True))
    check_count(call.bias, call.nOutputPlane)
    x, w, b = (read(t, call.output) for t in (call.input, call.weight, call.bias))
    with writing((call.output, (call.nOutputPlane, *windows.size[1:]))) as (out,):
        _fill(out[None], b)
        for group in groups:
            _add_expanded(windows, group, x[None], w, out[None])


@thnn("SpatialFullConvolutionMap_updateGradInput", _BACKWARD, repeats=True)
def full_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check_table(call.weight, call.connTable, 5, "weight")
    check_planes("input", call.input, 3, call.nInputPlane, call.input.sizes[-2:], more=True)
    windows = windows_of_full(call.input.sizes[1:], call.weight.sizes[1:], (call.dH, call.dW))
    check_planes("gradOutput", call.gradOutput, 3, call.nOutputPlane, windows.size[1:])
    groups = list(groups_of(call.connTable, call.nInputPlane, call.nOutputPlane, full=True))
    g, w = (read(t, call.gradInput) for t in (call.gradOutput, call.weight))
    with writing((call.gradInput, call.input.sizes)) as (out,):
        _fill(out[None], None)
        for group in groups:
            _add_reduced(windows, group, g[None], w, out[None])


@thnn("SpatialFullConvolutionMap_accGradParameters", _ACCUMULATE, repeats=True)
def full_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check_table(call.gradWeight, call.connTable, 5, "gradWeight")
    check_planes("input", call.input, 3, call.nInputPlane, call.input.sizes[-2:], more=True)
    windows = windows_of_full(call.input.sizes[1:], call.gradWeight.sizes[1:], (call.dH, call.dW))
    check_planes("gradOutput", call.gradOutput, 3, call.nOutputPlane, windows.size[1:])
    gradients = (call.gradWeight, call.gradBias)
    _weigh(
        windows,
        call.gradOutput,
        call.input,
        gradients,
        call.connTable,
        call.nOutputPlane,
        call.scale,
        True,
    )


# -- what is computed for a group: `to` are the maps of images that have the planes `from`


def _fill(rows: Array, values: Array | None) -> None:
    """Set the planes of samples to a number each: those of a bias, or 0."""
    samples, planes = rows.shape[:2]
    given = 0 if values is None else values
    count = prod(rows.shape[2:])
    run(
        "nn_fill_rows",
        samples * planes,
        size=rows.itemsize,
        out=rows,
        values=given,
        planes=planes,
        count=count,
    )


def _gathered(planes: Array, numbers: Array) -> Array:
    """Some planes of samples, one after the other: samples x numbers x elements."""
    rows = _rows(planes, numbers)
    count = prod(planes.shape[2:])
    out = working(len(rows) * count, planes.dtype)
    run("take", len(rows), out=out, source=planes, at=rows, size=count * planes.itemsize)
    return out.reshape(len(planes), len(numbers), *planes.shape[2:])


def _rows(planes: Array, numbers: Array) -> Array:
    """Which rows these planes are among those of all samples."""
    first = np.arange(len(planes), dtype=np.int64)[:, None] * planes.shape[1]
    return np.ascontiguousarray((first + numbers).reshape(-1))


def _add_rows(planes: Array, numbers: Array, values: Array) -> None:
    """Add values, samples x numbers x elements, to some planes; one may be there several times."""
    count, rows = prod(planes.shape[2:]), _rows(planes, numbers)
    run(
        "nn_add_rows",
        len(rows),
        size=planes.itemsize,
        out=planes,
        source=values,
        at=rows,
        count=count,
    )


def _add_reduced(windows: Windows, group: Group, x: Array, weight: Array, out: Array) -> None:
    """Add the correlations of some planes of images with their kernels to some maps."""
    kernels, planes, maps = group
    images = _gathered(x, planes).reshape(len(x), len(planes), *windows.size)
    w = _kernels(weight, kernels)
    sums = working(len(x) * len(maps) * windows.places, x.dtype)
    sums = sums.reshape(len(x), len(maps), windows.places)
    _columns.correlate(windows, images, w, None, sums, _memory(windows, planes, x))
    _add_rows(out, maps, sums)


def _add_expanded(windows: Windows, group: Group, g: Array, weight: Array, out: Array) -> None:
    """Add to some planes of images what is the gradient of that."""
    kernels, planes, maps = group
    sources = _gathered(g, maps).reshape(len(g), len(maps), -1)
    w = _kernels(weight, kernels)
    sums = working(len(g) * len(planes) * prod(windows.size), g.dtype)
    sums = sums.reshape(len(g), len(planes), *windows.size)
    _columns.spread(windows, sources, w, None, sums, _memory(windows, planes, g))
    _add_rows(out, planes, sums)


def _weigh(
    windows: Windows,
    images: Tensor,
    maps: Tensor,
    gradients: tuple[Tensor, Tensor],
    table: Tensor,
    planes: int,
    scale: float,
    full: bool,
) -> None:
    """planes: how many planes of the images count."""
    grad_weight, grad_bias = gradients
    outputs = maps.sizes[-3]
    pair = (outputs, planes) if full else (planes, outputs)
    groups = list(groups_of(table, *pair, full=full))
    x, g = (read(t, *gradients).reshape(-1, *t.sizes[-3:]) for t in (images, maps))
    x = packed(x, planes)
    d = x if full else g
    check_count(grad_bias, d.shape[1])
    with adding(grad_weight) as weights, adding(grad_bias) as biases:
        _columns.add_sums(biases.reshape(-1), d.reshape(len(d), d.shape[1], -1), scale)
        for kernels, from_, to in groups:
            part = _gathered(x, from_).reshape(len(x), len(from_), *windows.size)
            source = _gathered(g, to).reshape(len(g), len(to), -1)
            sums = working(kernels.size * windows.taps, x.dtype).reshape(len(to), -1)
            _fill(sums[None], None)
            _columns.weigh(windows, part, source, sums, scale, _memory(windows, from_, x))
            _add_rows(weights[None], kernels.reshape(-1), sums)


def _kernels(weight: Array, kernels: Array) -> Array:
    """The kernels, maps x planes, as weights: a copy."""
    return _gathered(weight[None], kernels.reshape(-1)).reshape(len(kernels), -1)


def _memory(windows: Windows, planes: Array, like: Array) -> Array:
    depth = len(planes) * windows.taps
    return working(depth * windows.places, like.dtype).reshape(depth, windows.places)
