"""Convolutions with kernels for some pairs of planes, and with kernels for each place.

SpatialConvolutionMap and SpatialFullConvolutionMap have a table of connections, with a row for each
kernel: the numbers, from 1, of its input plane and its output plane. Output planes that are
connected with the same input planes are computed together. SpatialConvolutionLocal has weights of
its own for each place; finput holds the columns of all samples, as in SpatialConvolutionMM.
"""

from __future__ import annotations

from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn import _columns
from th_shell.runtime.thnn._columns import Windows
from th_shell.runtime.thnn._convolution import (
    Given,
    Shape,
    check_columns,
    check_contiguous,
    check_gradient,
    inner_windows,
    remembered,
)
from th_shell.runtime.thnn._jobs import blas, loops, run
from th_shell.runtime.thnn.checks import check, check_batch, check_size, check_steps, in_order
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, unrepeated

# -- by a table of connections


_NUMBERS = "connTable, int nInputPlane, int nOutputPlane, int dW, int dH"


def _windows(call: Call, weight: Tensor, exact: bool = False) -> Windows:
    """The windows on the planes of input, of which there must be enough; checks gradOutput, too."""
    windows = windows_on(call.input.sizes[-2:], weight.sizes[1:], (call.dH, call.dW), exact)
    ndim = call.input.ndim
    check_planes("input", call.input, ndim, call.nInputPlane, call.input.sizes[-2:], more=True)
    check_planes("gradOutput", call.gradOutput, ndim, call.nOutputPlane, windows.count[1:])
    return windows


def _full_windows(call: Call, weight: Tensor) -> Windows:
    """The windows on the planes of gradOutput, whose places the elements of input are."""
    check_planes("input", call.input, 3, call.nInputPlane, call.input.sizes[-2:], more=True)
    windows = windows_of_full(call.input.sizes[1:], weight.sizes[1:], (call.dH, call.dW))
    check_planes("gradOutput", call.gradOutput, 3, call.nOutputPlane, windows.size[1:])
    return windows


@unrepeated("SpatialConvolutionMap_updateOutput", f"input, output, weight, bias, {_NUMBERS}")
def forward(call: Call) -> None:
    """output = bias + the correlations of connected planes with their kernels."""
    check_table(call.weight, call.connTable, 4, "weight")
    check(call.input.ndim in (3, 4), 2, "3D or 4D(batch mode) tensor expected")
    check(call.input.sizes[-3] >= call.nInputPlane, 2, "invalid number of input planes")
    windows = windows_on(call.input.sizes[-2:], call.weight.sizes[1:], (call.dH, call.dW))
    groups = groups_of(call.connTable, call.nInputPlane, call.nOutputPlane)
    check_count(call.bias, call.nOutputPlane)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    x = packed(x.reshape(-1, *x.shape[-3:]), call.nInputPlane)
    result = call.write(
        call.output, (*call.input.sizes[:-3], call.nOutputPlane, *windows.count[1:])
    )
    out = result.reshape(len(x), call.nOutputPlane, -1)
    out[...] = b.reshape(-1)[: call.nOutputPlane, None]
    for group in groups:
        _add_reduced(windows, group, x, w, out)


@unrepeated("SpatialConvolutionMap_updateGradInput", f"{BACKWARD}, weight, bias?, {_NUMBERS}")
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check_table(call.weight, call.connTable, 5, "weight")
    windows = _windows(call, call.weight)
    groups = groups_of(call.connTable, call.nInputPlane, call.nOutputPlane)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    g = g.reshape(-1, *g.shape[-3:])
    images = call.write(call.gradInput, call.input.sizes).reshape(-1, *call.input.sizes[-3:])
    images.fill(0)
    for group in groups:
        _add_expanded(windows, group, g, w, packed(images, call.nInputPlane))


@unrepeated("SpatialConvolutionMap_accGradParameters", f"{GRADIENTS}, {_NUMBERS}, accreal scale")
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check_table(call.gradWeight, call.connTable, 5, "gradWeight")
    windows = _windows(call, call.gradWeight, exact=True)
    check_contiguous(call)
    _weigh(call, windows, full=False)


@unrepeated("SpatialFullConvolutionMap_updateOutput", f"input, output, weight, bias, {_NUMBERS}")
def full_forward(call: Call) -> None:
    """output = bias + the full convolutions of connected planes with their kernels."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    check_table(call.weight, call.connTable, 4, "weight")
    check(call.input.ndim == 3, 2, "3D tensor expected")
    check(call.input.sizes[0] >= call.nInputPlane, 2, "invalid number of input planes")
    windows = windows_of_full(call.input.sizes[1:], call.weight.sizes[1:], (call.dH, call.dW))
    groups = groups_of(call.connTable, call.nInputPlane, call.nOutputPlane, True)
    check_count(call.bias, call.nOutputPlane)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    out = call.write(call.output, (call.nOutputPlane, *windows.size[1:]))[None]
    out[...] = b.reshape(-1)[: call.nOutputPlane, None, None]
    for group in groups:
        _add_expanded(windows, group, x[None], w, out)


@unrepeated("SpatialFullConvolutionMap_updateGradInput", f"{BACKWARD}, weight, bias?, {_NUMBERS}")
def full_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check_table(call.weight, call.connTable, 5, "weight")
    windows = _full_windows(call, call.weight)
    groups = groups_of(call.connTable, call.nInputPlane, call.nOutputPlane, True)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    out = call.write(call.gradInput, call.input.sizes)[None]
    out.fill(0)
    for group in groups:
        _add_reduced(windows, group, g[None], w, out)


@unrepeated(
    "SpatialFullConvolutionMap_accGradParameters", f"{GRADIENTS}, {_NUMBERS}, accreal scale"
)
def full_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check_table(call.gradWeight, call.connTable, 5, "gradWeight")
    _weigh(call, _full_windows(call, call.gradWeight), full=True)


# -- what is computed for a group: `to` are the maps of images that have the planes `from`


def _add_reduced(windows: Windows, group: Group, x: Array, weight: Array, out: Array) -> None:
    """Add the correlations of some planes of images with their kernels to some maps."""
    kernels, planes, maps = group
    images = x.take(planes, 1).reshape(len(x), len(planes), *windows.size)
    sums = np.empty((len(x), len(maps), windows.places), x.dtype)
    memory = _memory(windows, planes, x)
    _columns.correlate(windows, images, _kernels(weight, kernels), 0, sums, memory)
    out[:, maps] += sums.reshape(*sums.shape[:2], *out.shape[2:])


def _add_expanded(windows: Windows, group: Group, g: Array, weight: Array, out: Array) -> None:
    """Add to some planes of images, of which one may be there several times, the gradient."""
    kernels, planes, maps = group
    sources = g.take(maps, 1).reshape(len(g), len(maps), -1)
    sums = np.empty((len(g), len(planes), *windows.size), g.dtype)
    memory = _memory(windows, planes, g)
    _columns.spread(windows, sources, _kernels(weight, kernels), 0, sums, memory)
    for k, plane in enumerate(planes):
        out[:, plane] += sums[:, k].reshape(len(g), *out.shape[2:])


def _weigh(call: Call, windows: Windows, full: bool) -> None:
    """full: whether the images are gradOutput, not the input."""
    planes = call.input.sizes[-3] if full else call.nInputPlane
    groups = groups_of(call.connTable, planes, call.nOutputPlane, full)
    x, g = (call.read(t).reshape(-1, *t.sizes[-3:]) for t in (call.input, call.gradOutput))
    upper = g
    if full:
        x, g = g, x
    x = packed(x, call.nOutputPlane if full else call.nInputPlane)
    check_count(call.gradBias, upper.shape[1])
    weights, biases = call.change(call.gradWeight), call.change(call.gradBias)
    sums = upper.reshape(*upper.shape[:2], -1)
    _columns.add_sums(biases.reshape(-1), sums, call.scale)
    for kernels, from_, to in groups:
        part = x.take(from_, 1).reshape(len(x), len(from_), *windows.size)
        source = g.take(to, 1).reshape(len(g), len(to), -1)
        sums = np.zeros((len(to), kernels.size // len(to) * windows.taps), x.dtype)
        memory = _memory(windows, from_, x)
        _columns.weigh(windows, part, source, sums, call.scale, memory)
        weights[kernels] += sums.reshape(*kernels.shape, *weights.shape[1:])


def _kernels(weight: Array, kernels: Array) -> Array:
    """The kernels, maps x planes, as weights."""
    return weight.take(kernels, 0).reshape(len(kernels), -1)


def _memory(windows: Windows, planes: Array, like: Array) -> Array:
    return np.empty((len(planes) * windows.taps, windows.places), like.dtype)


#: Numbers of the kernels, of their input planes and of their output planes: (kernels, from, to).
Group = tuple[Array, Array, Array]


def groups_of(table: Tensor, planes: int, maps: int, full: bool = False) -> list[Group]:
    """The maps that have the same planes, these, and the numbers of the kernels: maps x planes.

    full: whether the input planes of the table are the maps.
    """
    connections = table.array.astype(np.int64) - 1
    if ((connections < 0) | (connections >= (planes, maps))).any():
        raise TorchError(f"connTable needs numbers of planes from 1 to {planes} and {maps}")
    from_, to = connections.T if not full else connections.T[::-1]
    groups: dict[tuple[int, ...], list[tuple[int, Array]]] = {}
    for map_ in np.unique(to):
        kernels = np.flatnonzero(to == map_)
        kernels = kernels[np.argsort(from_[kernels], kind="stable")]
        groups.setdefault(tuple(from_[kernels]), []).append((int(map_), kernels))
    return [
        (np.array([k for _, k in members]), np.array(sources), np.array([m for m, _ in members]))
        for sources, members in groups.items()
    ]


def check_table(weight: Tensor, table: Tensor, position: int, name: str) -> None:
    fits = weight.ndim == 3 and table.ndim > 0 and table.sizes[0] == weight.sizes[0]
    check(fits, position, f"3D {name} tensor expected (connTable:size(1) x kH x kW)")
    if table.ndim != 2 or table.sizes[1] != 2:
        raise TorchError(f"connTable of 2 columns expected, got {describe(table.sizes)}")


def check_planes(
    name: str, tensor: Tensor, ndim: int, planes: int, size: Sizes, more: bool = False
) -> None:
    """more: whether there may be planes that no connection names, behind the others."""
    expected = (planes, *size)
    fits = tensor.ndim == ndim and ndim in (3, 4) and tensor.sizes[-2:] == size
    if not fits or tensor.sizes[-3] < planes or (tensor.sizes[-3] > planes and not more):
        raise TorchError(f"{name} of size {describe(expected)} expected: {describe(tensor.sizes)}")


def packed(images: Array, planes: int) -> Array:
    """Contiguous images (a batch) as if they had no more than these planes.

    The original finds image n behind n times these planes, be there more or not.
    """
    sizes = (len(images), planes, *images.shape[2:])
    return images.reshape(-1)[: prod(sizes)].reshape(sizes)


def check_count(bias: Tensor, count: int) -> None:
    if bias.nelement < count:
        raise TorchError(f"{count} elements of bias expected, got {describe(bias.sizes)}")


def windows_on(size: Sizes, kernel: Sizes, stride: Sizes, exact: bool = False) -> Windows:
    """Windows without padding; a rest of the image may lie under none of them.

    exact: whether such a rest is an error. Torch7: gradients of weights are larger then.
    """
    if min(stride) < 1:
        raise TorchError(f"stride should be greater than zero, but got {describe(stride)}")
    if len(size) != 2 or size[0] < kernel[0] or size[1] < kernel[1]:
        raise ArgError(2, "input image smaller than kernel size")
    numbers = list(zip(size, kernel, stride, strict=True))
    if exact and any((n - k) % s for n, k, s in numbers):
        raise TorchError(f"windows do not cover the input of size {describe(size)}")
    count = tuple((n - k) // s + 1 for n, k, s in numbers)
    return Windows.of(size, kernel, stride, (0, 0), (1, 1), count)


def windows_of_full(count: Sizes, kernel: Sizes, stride: Sizes) -> Windows:
    """Such windows on the image that they cover."""
    size = tuple((n - 1) * s + k for n, k, s in zip(count, kernel, stride, strict=True))
    return windows_on(size, kernel, stride)


# -- for each place


_KERNEL = "int kW, int kH, int dW, int dH, int padW, int padH"


def _unfold(shape: Shape, x: Array, columns: Array) -> None:
    """columns = those of the images of all samples."""
    _columns.unfold(shape.windows, x.reshape(shape.images), columns.reshape(-1, *shape.columns))


_LOCAL = (
    f"finput, fgradInput, {_KERNEL}, long inputWidth, long inputHeight, long outputWidth, "
    "long outputHeight"
)


@unrepeated("SpatialConvolutionLocal_updateOutput", f"input, output, weight, bias, {_LOCAL}")
def local_forward(call: Call) -> None:
    """output = bias + for each place its weights times what lies under the kernel there."""
    shape = _checked(call)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    columns = call.write(call.finput, shape.all_columns)
    out = call.write(call.output, (*shape.batch, shape.maps, *shape.count))
    _unfold(shape, x, columns)
    out.reshape(shape.images[0], -1)[...] = b.reshape(-1)
    _multiply("forward", shape, columns, w, out)


@unrepeated("SpatialConvolutionLocal_updateGradInput", f"{BACKWARD}, weight, {_LOCAL}")
def local_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _checked(call)
    check_columns(call.finput, shape)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    out = call.write(call.gradInput, call.input.sizes)
    columns = call.write(call.fgradInput, call.finput.sizes)
    _multiply("backward", shape, columns, w, g)
    out.fill(0)
    _columns.fold(shape.windows, columns.reshape(-1, *shape.columns), out.reshape(shape.images))


@unrepeated("SpatialConvolutionLocal_accGradParameters", f"{GRADIENTS}, {_LOCAL}, accreal scale")
def local_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    check_contiguous(call)
    shape = _checked(call)
    check_columns(call.finput, shape)
    g, columns = call.read(call.gradOutput), call.read(call.finput)
    _multiply("gradient", shape, columns, call.change(call.gradWeight), g, call.scale)
    sums = call.change(call.gradBias).reshape(-1)
    _columns.add_sums(sums, g.reshape(-1, sums.size, 1)[: shape.images[0]], call.scale)


def _multiply(
    what: str, shape: Shape, columns: Array, weight: Array, maps: Array, scale: float = 1
) -> None:
    """Compute maps += weight * columns for each place; backward: columns; gradient: weights."""
    samples, (height, places) = shape.images[0], shape.columns
    run(
        "nn_local",
        places,
        work=samples * weight.size // 10,
        gemm=blas("gemm", columns.itemsize),
        columns=columns,
        weight=weight,
        out=maps,
        backward=what == "backward",
        gradient=what == "gradient",
        samples=samples,
        maps=shape.maps,
        height=height,
        places=places,
        alpha=scale,
        **loops(columns.dtype, np.positive),
    )


@remembered
def _checked(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    kernel, stride, padding, size, count = in_order(operands.numbers, 2)
    check(weight.ndim in (3, 6), 4, f"weight tensor should be 3D or 6D - got {weight.ndim}D")
    check_steps(9, kernel, stride)
    check_batch(input, 2, plain=True)
    flat = weight.ndim == 3
    places, maps = weight.sizes[:2] if flat else (prod(weight.sizes[:2]), weight.sizes[2])
    depth = weight.sizes[2] if flat else prod(weight.sizes[3:])
    planes = depth // prod(kernel)
    if operands.bias is not None:
        for dim, expected in enumerate((maps, *count)):
            check_size("bias", operands.bias, 3, dim, expected)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    check_gradient(operands.grad_output, input, (maps, *count))
    if min(count) < 1 or input.sizes[-2:] != size:
        raise TorchError(f"input of size {describe(size)} expected, got {describe(input.sizes)}")
    windows = inner_windows(size, kernel, stride, padding, count)
    shape = Shape(input.sizes[:-3], planes, maps, size, count, windows)
    if (places, depth) != (windows.places, shape.columns[0]):
        fitting = (windows.places, maps, shape.columns[0])
        raise TorchError(f"weight of size {describe(fitting)} expected")
    return shape
