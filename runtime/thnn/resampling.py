"""Padding by an image's or volume's own elements, and up-sampling: repeated, or interpolated.

Paddings repeat the edges, or mirror what is next to them; negative ones cut elements off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, contiguous_strides
from th_shell.runtime.thnn._jobs import run
from th_shell.runtime.thnn._planes import by_table, interpolate
from th_shell.runtime.thnn.checks import check, check_batch, check_size, size_of
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn

#: Where elements of a dimension come from: of size, padding before, and elements of the result.
Places = Callable[[int, int, int], Array]


def _copy(call: Call, table: Array, sizes: Sizes) -> None:
    """output = for each plane, which gets sizes, its elements that a table names."""
    x, leading = call.read(call.input), call.input.sizes[: -len(sizes)]
    by_table(x, table, math.prod(leading), call.write(call.output, (*leading, *sizes)))


def _collect(call: Call, table: Array, planes: int) -> None:
    """gradInput = the sums of gradOutput where each element was copied to."""
    g = call.read(call.gradOutput, planes * len(table))
    by_table(g, table, planes, call.write(call.gradInput, call.input.sizes), back=True)


# -- padding


def _mirrored(size: int, before: int, count: int) -> Array:
    """Return the sources of a dimension's elements; its ends, which mirror, are not repeated."""
    at = np.arange(count) - before
    return np.where(at < 0, -at, np.where(at < size, at, 2 * (size - 1) - at))


def _repeated(size: int, before: int, count: int) -> Array:
    return np.clip(np.arange(count) - before, 0, size - 1)


def _add_padding(name: str, numbers: str, places: Places) -> None:
    """Add the rows of a layer. numbers: the paddings before and after, the width's first."""

    @thnn(f"{name}_updateOutput", f"{FORWARD}, {numbers}")
    def forward(call: Call) -> None:
        """output = each plane with a border that repeats or mirrors its elements."""
        _copy(call, *_padded(call.input, call.numbers, places))

    @thnn(f"{name}_updateGradInput", f"{BACKWARD}, {numbers}")
    def backward(call: Call) -> None:
        """gradInput = the sums of gradOutput where each element was copied to."""
        table, padded = _padded(call.input, call.numbers, places)
        # Torch7 does not look at the gradient of volumes, nor at the planes of images.
        for k, name in enumerate(("width", "height", "depth")[: len(padded)], 1):
            actual, size = size_of(call.gradOutput, call.input.ndim - k), padded[-k]
            text = f"gradOutput {name} unexpected. Expected: {size}, Got: {actual}"
            check(actual == size, 3, text)
        planes = math.prod(call.input.sizes[: -len(padded)])
        g = call.gradOutput
        if g.ndim != call.input.ndim or g.nelement < planes * math.prod(padded):
            raise TorchError(f"gradOutput must have {planes} planes")
        _collect(call, table, planes)


def _padded(input: Tensor, numbers: Sizes, places: Places) -> tuple[Array, Sizes]:
    """Return the sources of a padded plane's elements, and the sizes of such a plane."""
    before, after = numbers[-2::-2], numbers[::-2]
    dims = len(before)
    check_batch(input, dims)
    sizes = input.sizes[-dims:]
    padded = tuple(map(sum, zip(sizes, before, after, strict=True)))
    if min(padded) < 1:
        d = "D: {} " * (dims - 2)
        old, new = f"{d}H: {{}}, W: {{}}".format(*sizes), f"{d}H: {{}} W: {{}}".format(*padded)
        check(False, 2, f"input ({old})is too small. Calculated output {new}")
    return _grid_table(sizes, padded, before, places), padded


@lru_cache(maxsize=32)
def _grid_table(sizes: Sizes, results: Sizes, before: Sizes, places: Places) -> Array:
    """The place in a plane of each element of its result, by the places along each dimension.

    Raises an error where there is no such place.
    """
    count = math.prod(results)
    if max(math.prod(sizes), count) > np.iinfo(np.int32).max:
        raise TorchError(f"planes of {count} elements are too large")
    table = np.zeros(1, np.int64)
    numbers = zip(sizes, before, results, contiguous_strides(sizes), strict=True)
    for size, first, count, stride in numbers:
        at = places(size, first, count)
        if not (at.min() >= 0 and at.max() < size):
            raise TorchError(f"padding is too large for a size of {size}")
        table = np.add.outer(table, at * stride).ravel()
    return table.astype(np.int32)


_BORDER = "int pad_l, int pad_r, int pad_t, int pad_b"
_add_padding("SpatialReflectionPadding", _BORDER, _mirrored)
_add_padding("SpatialReplicationPadding", _BORDER, _repeated)
_add_padding(
    "VolumetricReplicationPadding",
    "int pleft, int pright, int ptop, int pbottom, int pfront, int pback",
    _repeated,
)

# -- repeated elements


def _quotients(_size: int, scale: int, count: int) -> Array:
    return np.arange(count) // scale


def _add_nearest(kind: str, dims: int) -> None:
    """Add the rows of a layer for planes of so many dimensions."""

    @thnn(f"{kind}UpSamplingNearest_updateOutput", f"{FORWARD}, int scale_factor")
    def forward(call: Call) -> None:
        """output = each element repeated along all dimensions of its plane."""
        _copy(call, *_enlarged(call, dims))

    @thnn(f"{kind}UpSamplingNearest_updateGradInput", f"{BACKWARD}, int scale_factor")
    def backward(call: Call) -> None:
        """gradInput = the sums of gradOutput over each element's copies."""
        table, larger = _enlarged(call, dims)
        leading = call.input.sizes[:-dims]
        for dim, size in enumerate((*leading, *larger)):
            check_size("gradOutput", call.gradOutput, call.input.ndim, dim, size)
        _collect(call, table, math.prod(leading))


def _enlarged(call: Call, dims: int) -> tuple[Array, Sizes]:
    """Return the sources of an enlarged plane's elements, and its sizes."""
    scale, sizes = call.scale_factor, call.input.sizes[-dims:]
    check(scale > 1, 4, f"scale_factor must be greater than 1, but got: {scale}")
    check_batch(call.input, dims, plain=True)
    larger = tuple(size * scale for size in sizes)
    return _grid_table(sizes, larger, (scale,) * dims, _quotients), larger


_add_nearest("Spatial", 2)
_add_nearest("Volumetric", 3)

# -- interpolation


def _add_linear(name: str, letters: tuple[str, ...]) -> None:
    """Add the rows of a layer. letters: the names of a plane's dimensions."""
    dims = len(letters)
    before, after = (", ".join(f"int {x}{d}" for d in letters) for x in ("input", "output"))

    @thnn(f"{name}_updateOutput", f"{FORWARD}, {after}")
    def forward(call: Call) -> None:
        """output = the input at evenly spaced points, of which the first and last are corners."""
        input, larger = call.input, call.numbers
        sizes = tuple(size_of(input, dim) for dim in range(dims + 2))[2:]
        _check_sizes(sizes, larger)
        check(input.ndim == dims + 2, 2, f"{dims + 2}D input tensor expected but got: %s", input)
        x, leading = call.read(input), input.sizes[:2]
        _interpolate(x, call.write(call.output, (*leading, *larger)), sizes, larger)

    @thnn(
        f"{name}_updateGradInput",
        f"gradOutput, gradInput, int nbatch, int nchannels, {before}, {after}",
    )
    def backward(call: Call) -> None:
        """gradInput = the sums of gradOutput times what each element had of it."""
        leading, sizes, larger = call.numbers[:2], call.numbers[2:-dims], call.numbers[-dims:]
        _check_sizes(sizes, larger)
        for dim, size in enumerate((*leading, *larger)):
            check_size("gradOutput", call.gradOutput, dims + 2, dim, size)
        g = call.read(call.gradOutput)
        out = call.write(call.gradInput, (*leading, *sizes))
        _interpolate(out, g, sizes, larger, back=True)


def _check_sizes(sizes: Sizes, larger: Sizes) -> None:
    letters = "DHW"[-len(sizes) :]
    before, after = (
        ", ".join(f"{x}: {n}" for x, n in zip(letters, s, strict=True)) for s in (sizes, larger)
    )
    check(
        min(*sizes, *larger) > 0,
        2,
        "input and output sizes should be greater than 0, but got "
        f"input ({before}) output ({after})",
    )


def _interpolate(
    x: Array, larger: Array, sizes: Sizes, to_sizes: Sizes, back: bool = False
) -> None:
    """larger = x at the points, for all planes; back: x = the gradient."""
    if sizes == to_sizes:
        out, source = (x, larger) if back else (larger, x)
        run("copy", source.nbytes, out=out, source=source)
        return
    places, weights = _points(sizes, to_sizes, x.dtype)
    interpolate(x, places, weights, math.prod(x.shape[:2]), larger, back=back)


@lru_cache(maxsize=32)
def _points(sizes: Sizes, larger: Sizes, real: np.dtype[Any]) -> tuple[Array, Array]:
    """For each point the elements around it, as places in a plane, and their weights.

    Torch7: points are floats of 32 bits, weights along a dimension have the elements' type.
    """
    places, weights = np.zeros((1, 1), np.int64), np.ones((1, 1))
    for size, count, stride in zip(sizes, larger, contiguous_strides(sizes), strict=True):
        step = np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.float32(0)
        point = step * np.arange(count, dtype=np.float32)
        first = point.astype(np.int64)
        second = np.minimum(first + 1, size - 1)
        weight = (point - first).astype(real)
        places = _outer(np.add, places, np.stack([first, second], 1) * stride)
        weights = _outer(np.multiply, weights, np.stack([1 - weight, weight], 1))
    if math.prod(sizes) > np.iinfo(np.int32).max:
        raise TorchError(f"planes of {math.prod(sizes)} elements are too large")
    return places.astype(np.int32), np.ascontiguousarray(weights, np.float64)


def _outer(combine: np.ufunc, a: Array, b: Array) -> Array:
    """For all pairs of rows, the last one's varying fastest, all pairs of their elements."""
    pairs: Array = combine(a[:, None, :, None], b[None, :, None, :])
    return pairs.reshape(len(a) * len(b), -1)


_add_linear("SpatialUpSamplingBilinear", ("Height", "Width"))
_add_linear("VolumetricUpSamplingTrilinear", ("Depth", "Height", "Width"))
