"""SpatialConvolutionMap and SpatialFullConvolutionMap: kernels for some pairs of planes.

The table of connections has a row for each kernel: the numbers, from 1, of its input plane and its
output plane. Output planes that are connected with the same input planes are computed together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn import _columns
from runtime.thnn._columns import Windows
from runtime.thnn._convolution import adding, read, writing
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

__all__: list[str] = []

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

#: Numbers of the kernels, of their input planes and of their output planes: (kernels, from, to).
_Group = tuple[Array, Array, Array]


@thnn("SpatialConvolutionMap_updateOutput", _FORWARD)
def forward(
    input: Tensor,
    output: Tensor,
    weight: Tensor,
    bias: Tensor,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
) -> None:
    """output = bias + the correlations of connected planes with their kernels."""
    _check_table(weight, table, 4, "weight")
    check(input.ndim in (3, 4), 2, "3D or 4D(batch mode) tensor expected")
    check(input.sizes[-3] >= planes, 2, "invalid number of input planes")
    size, kernel = input.sizes[-2:], weight.sizes[1:]
    check(size[0] >= kernel[0] and size[1] >= kernel[1], 2, "input image smaller than kernel size")
    windows = _windows(size, kernel, (dh, dw))
    groups = list(_groups(table, planes, maps))
    _check_count(bias, maps)
    x, w, b = (read(t, output) for t in (input, weight, bias))
    x = x.reshape(-1, *x.shape[-3:])
    with writing((output, (*input.sizes[:-3], maps, *windows.count[1:]))) as (result,):
        out = result.reshape(len(x), maps, *windows.count[1:])
        out[...] = b.reshape(-1)[:maps, None, None]
        for group in groups:
            _add_reduced(windows, group, x, w, out)


@thnn("SpatialConvolutionMap_updateGradInput", _BACKWARD)
def backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    weight: Tensor,
    _: Tensor | None,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
) -> None:
    """gradInput from gradOutput and weight."""
    _check_table(weight, table, 5, "weight")
    windows = _windows(input.sizes[-2:], weight.sizes[1:], (dh, dw))
    _check_planes("input", input, input.ndim, planes, input.sizes[-2:])
    _check_planes("gradOutput", grad_output, input.ndim, maps, windows.count[1:])
    groups = list(_groups(table, planes, maps))
    g, w = (read(t, gradient) for t in (grad_output, weight))
    g = g.reshape(-1, *g.shape[-3:])
    with writing((gradient, input.sizes)) as (result,):
        result[...] = 0
        out = result.reshape(-1, *result.shape[-3:])
        for group in groups:
            _add_expanded(windows, group, g, w, out)


@thnn("SpatialConvolutionMap_accGradParameters", _ACCUMULATE)
def accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
    scale: float,
) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    _check_table(grad_weight, table, 5, "gradWeight")
    windows = _windows(input.sizes[-2:], grad_weight.sizes[1:], (dh, dw), exact=True)
    check(grad_weight.is_contiguous, 4, "gradWeight needs to be contiguous")
    check(grad_bias.is_contiguous, 5, "gradBias needs to be contiguous")
    _check_planes("input", input, input.ndim, planes, input.sizes[-2:])
    _check_planes("gradOutput", grad_output, input.ndim, maps, windows.count[1:])
    _weigh(windows, input, grad_output, grad_output, (grad_weight, grad_bias), table, scale, False)


@thnn("SpatialFullConvolutionMap_updateOutput", _FORWARD)
def full_forward(
    input: Tensor,
    output: Tensor,
    weight: Tensor,
    bias: Tensor,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
) -> None:
    """output = bias + the full convolutions of connected planes with their kernels."""
    check(weight.is_contiguous, 4, "weight must be contiguous")
    check(bias.is_contiguous, 5, "bias must be contiguous")
    _check_table(weight, table, 4, "weight")
    check(input.ndim == 3, 2, "3D tensor expected")
    check(input.sizes[0] >= planes, 2, "invalid number of input planes")
    windows = _full_windows(input.sizes[1:], weight.sizes[1:], (dh, dw))
    groups = list(_groups(table, planes, maps, full=True))
    _check_count(bias, maps)
    x, w, b = (read(t, output) for t in (input, weight, bias))
    with writing((output, (maps, *windows.size[1:]))) as (out,):
        out[...] = b.reshape(-1)[:maps, None, None]
        for group in groups:
            _add_expanded(windows, group, x[None], w, out[None])


@thnn("SpatialFullConvolutionMap_updateGradInput", _BACKWARD)
def full_backward(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    weight: Tensor,
    _: Tensor | None,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
) -> None:
    """gradInput from gradOutput and weight."""
    _check_table(weight, table, 5, "weight")
    _check_planes("input", input, 3, planes, input.sizes[-2:])
    windows = _full_windows(input.sizes[1:], weight.sizes[1:], (dh, dw))
    _check_planes("gradOutput", grad_output, 3, maps, windows.size[1:])
    groups = list(_groups(table, planes, maps, full=True))
    g, w = (read(t, gradient) for t in (grad_output, weight))
    with writing((gradient, input.sizes)) as (out,):
        out[...] = 0
        for group in groups:
            _add_reduced(windows, group, g[None], w, out[None])


@thnn("SpatialFullConvolutionMap_accGradParameters", _ACCUMULATE)
def full_accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    grad_bias: Tensor,
    table: Tensor,
    planes: int,
    maps: int,
    dw: int,
    dh: int,
    scale: float,
) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    _check_table(grad_weight, table, 5, "gradWeight")
    _check_planes("input", input, 3, planes, input.sizes[-2:])
    windows = _full_windows(input.sizes[1:], grad_weight.sizes[1:], (dh, dw))
    _check_planes("gradOutput", grad_output, 3, maps, windows.size[1:])
    _weigh(windows, grad_output, input, grad_output, (grad_weight, grad_bias), table, scale, True)


# -- what is computed for a group: `to` are the maps of images that have the planes `from`


def _add_reduced(windows: Windows, group: _Group, x: Array, weight: Array, out: Array) -> None:
    """Add the correlations of some planes of images with their kernels to some maps."""
    kernels, planes, maps = group
    images = np.ascontiguousarray(x[:, planes]).reshape(len(x), -1, *windows.size)
    memory, w = _memory(windows, planes, x), _kernels(weight, kernels)
    sums = np.empty((len(x), len(maps), windows.places), x.dtype)
    _columns.correlate(windows, images, w, None, sums, memory)
    out[:, maps] += sums.reshape(len(x), len(maps), *windows.count[1:])


def _add_expanded(windows: Windows, group: _Group, g: Array, weight: Array, out: Array) -> None:
    """Add to some planes of images what is the gradient of that."""
    kernels, planes, maps = group
    sources = np.ascontiguousarray(g[:, maps]).reshape(len(g), len(maps), -1)
    memory, w = _memory(windows, planes, g), _kernels(weight, kernels)
    sums = np.empty((len(g), len(planes), *windows.size), g.dtype)
    _columns.spread(windows, sources, w, None, sums, memory)
    for i, plane in enumerate(planes):  # one plane may be there several times
        out[:, plane] += sums[:, i, 0]


def _weigh(
    windows: Windows,
    images: Tensor,
    maps: Tensor,
    grad_output: Tensor,
    gradients: tuple[Tensor, Tensor],
    table: Tensor,
    scale: float,
    full: bool,
) -> None:
    grad_weight, grad_bias = gradients
    planes, outputs = images.sizes[-3], maps.sizes[-3]
    pair = (outputs, planes) if full else (planes, outputs)
    groups = list(_groups(table, *pair, full=full))
    x, g = (read(t, *gradients).reshape(-1, *t.sizes[-3:]) for t in (images, maps))
    d = x if full else g
    count = d.shape[1]
    _check_count(grad_bias, count)
    factor = cast_scalar(scale, grad_weight.dtype)
    with adding(grad_weight) as weights, adding(grad_bias) as biases:
        biases.reshape(-1)[:count] += d.dtype.type(factor) * d.sum(axis=(0, 2, 3))
        for kernels, from_, to in groups:
            part = np.ascontiguousarray(x[:, from_]).reshape(len(x), -1, *windows.size)
            source = np.ascontiguousarray(g[:, to]).reshape(len(g), len(to), -1)
            sums = _kernels(weights, kernels)
            _columns.weigh(windows, part, source, sums, factor, _memory(windows, from_, x))
            weights[kernels] = sums.reshape(*kernels.shape, *weights.shape[1:])


def _kernels(weight: Array, kernels: Array) -> Array:
    """The kernels, maps x planes, as weights: a copy."""
    return np.ascontiguousarray(weight[kernels]).reshape(len(kernels), -1)


def _memory(windows: Windows, planes: Array, like: Array) -> Array:
    return np.empty((len(planes) * windows.taps, windows.places), like.dtype)


def _groups(table: Tensor, planes: int, maps: int, full: bool = False) -> Iterator[_Group]:
    """The maps that have the same planes, these, and the numbers of the kernels: maps x planes.

    full: whether the input planes of the table are the maps.
    """
    connections = table.array.astype(np.int64) - 1
    if ((connections < 0) | (connections >= (planes, maps))).any():
        raise TorchError(f"connTable needs numbers of planes from 1 to {planes} and {maps}")
    from_, to = connections.T if not full else connections.T[::-1]
    found: dict[tuple[int, ...], list[tuple[int, Array]]] = {}
    for map_ in np.unique(to):
        kernels = np.flatnonzero(to == map_)
        kernels = kernels[np.argsort(from_[kernels], kind="stable")]
        found.setdefault(tuple(from_[kernels]), []).append((int(map_), kernels))
    for sources, members in found.items():
        kernels = np.array([numbers for _, numbers in members])
        yield kernels, np.array(sources), np.array([number for number, _ in members])


# -- checks


def _check_table(weight: Tensor, table: Tensor, position: int, name: str) -> None:
    fits = weight.ndim == 3 and table.ndim > 0 and table.sizes[0] == weight.sizes[0]
    check(fits, position, f"3D {name} tensor expected (connTable:size(1) x kH x kW)")
    if table.ndim != 2 or table.sizes[1] != 2:
        raise TorchError(f"connTable of 2 columns expected, got {describe(table.sizes)}")


def _check_planes(name: str, tensor: Tensor, ndim: int, planes: int, size: Sizes) -> None:
    expected = (planes, *size)
    if tensor.ndim != ndim or ndim not in (3, 4) or tensor.sizes[-3:] != expected:
        raise TorchError(f"{name} of size {describe(expected)} expected: {describe(tensor.sizes)}")


def _check_count(bias: Tensor, count: int) -> None:
    if bias.nelement < count:
        raise TorchError(f"{count} elements of bias expected, got {describe(bias.sizes)}")


def _windows(size: Sizes, kernel: Sizes, stride: Sizes, exact: bool = False) -> Windows:
    """exact: whether a rest of the image that no window reaches is an error.

    Torch7: its gradients of weights are then larger than the kernel.
    """
    _check_stride(stride)
    if len(size) != 2 or size[0] < kernel[0] or size[1] < kernel[1]:
        raise ArgError(2, "input image smaller than kernel size")
    numbers = list(zip(size, kernel, stride, strict=True))
    if exact and any((n - k) % s for n, k, s in numbers):
        raise TorchError(f"windows do not cover the input of size {describe(size)}")
    count = tuple((n - k) // s + 1 for n, k, s in numbers)
    return Windows.of(size, kernel, stride, (0, 0), (1, 1), count)


def _full_windows(count: Sizes, kernel: Sizes, stride: Sizes) -> Windows:
    _check_stride(stride)
    size = tuple((n - 1) * s + k for n, k, s in zip(count, kernel, stride, strict=True))
    return Windows.of(size, kernel, stride, (0, 0), (1, 1), count)


def _check_stride(stride: Sizes) -> None:
    if min(stride) < 1:
        raise TorchError(f"stride should be greater than zero, but got {describe(stride)}")
