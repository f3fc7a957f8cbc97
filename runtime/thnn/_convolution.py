"""Convolutions: the sizes of a call, their checks, and products with columns of images.

Sizes, kernels, strides and paddings are tuples of numbers for (depth,) height and width, in the
order of a tensor's dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn import _columns
from th_shell.runtime.thnn._columns import Windows
from th_shell.runtime.thnn._jobs import working
from th_shell.runtime.thnn.checks import check, check_size
from th_shell.runtime.thnn.table import Call


@dataclass(frozen=True)
class Shape:
    """The sizes of a call: images with planes, and what is made of them, maps with places.

    batch: the number of samples as a size; empty for a single one. size: of an image. count: the
    places in each dimension. kinds: for planes that have weights, and maps, of their own, how many
    such ones each sample has, as a size; planes and maps are those of one then.
    """

    batch: Sizes
    planes: int
    maps: int
    size: Sizes
    count: Sizes
    windows: Windows
    kinds: Sizes = ()

    @cached_property
    def images(self) -> Sizes:
        """The shape of the images as `_columns` takes them."""
        return (prod(self.batch + self.kinds), self.planes, *self.windows.size)

    @cached_property
    def results(self) -> Sizes:
        """The shape of the maps as `_columns` takes them."""
        return (prod(self.batch + self.kinds), self.maps, self.windows.places)

    def matrices(self, weight: Array) -> Array:
        """Weights as `_columns` takes them."""
        return weight.reshape(prod(self.kinds), self.maps, -1)

    @cached_property
    def all_columns(self) -> Sizes:
        """The size of a tensor with the columns of all samples."""
        return self.batch + self.kinds + self.columns

    @cached_property
    def columns(self) -> Sizes:
        """The size of the columns of a sample."""
        return (self.planes * self.windows.taps, self.windows.places)


@dataclass(frozen=True)
class Given:
    """The operands that decide the sizes of a call. weight, bias: these, or their gradients."""

    input: Tensor
    grad_output: Tensor | None
    weight: Tensor
    bias: Tensor | None
    numbers: tuple[int, ...]

    @classmethod
    def to(cls, call: Call) -> Given:
        """Return the operands of a call."""
        values = vars(call)
        weight = values["weight"] if "weight" in values else values["gradWeight"]
        bias = values.get("bias", values.get("gradBias"))
        return cls(call.input, values.get("gradOutput"), weight, bias, call.numbers)

    @property
    def sizes(self) -> tuple[object, ...]:
        """All sizes and numbers."""
        tensors = (self.input, self.grad_output, self.weight, self.bias)
        return (*[t and t.sizes for t in tensors], self.numbers)


#: The check of a call's sizes, and what they are.
Check = Callable[[Call], Shape]

_KNOWN = 256


def remembered(check_sizes: Callable[[Given], Shape]) -> Check:
    """The check of calls which keeps the last results: calls come with the same sizes again."""
    shapes: dict[tuple[object, ...], Shape] = {}

    def look_up(call: Call) -> Shape:
        operands = Given.to(call)
        key = operands.sizes
        shape = shapes.get(key)
        if shape is None:
            shape = check_sizes(operands)
            if len(shapes) >= _KNOWN:
                shapes.clear()
            shapes[key] = shape
        return shape

    return look_up


# -- what is computed: `reduce` makes maps of images, `expand` images of maps


@dataclass(frozen=True)
class Columns:
    """Memory for a call's columns of images: a tensor's, or memory of the call alone.

    kept: whether it has those of all samples, not only of the last one.
    """

    tensor: Tensor | None = None
    kept: bool = False

    def write(self, call: Call, shape: Shape, like: Array) -> Array:
        """Memory for the columns, which a tensor gets."""
        if self.tensor is None:
            return working(prod(shape.columns), like.dtype).reshape(shape.columns)
        if not self.kept:
            return call.write(self.tensor, shape.columns)
        return call.write(self.tensor, shape.all_columns).reshape(-1, *shape.columns)


def reduce(call: Call, shape: Shape, source: Tensor, result: Tensor, columns: Columns) -> None:
    """result = bias + weight * the columns of source."""
    x, w, b = call.read(source), call.read(call.weight), call.given(_bias(call))
    memory = columns.write(call, shape, x)
    out = call.write(result, (*shape.batch, prod(shape.kinds) * shape.maps, *shape.count))
    _columns.correlate(
        shape.windows,
        x.reshape(-1, *shape.images[1:])[: shape.images[0]],
        shape.matrices(_by_kind(w, shape)),
        b if isinstance(b, int) else _by_kind(b, shape),
        out.reshape(shape.results),
        memory,
    )


def expand(call: Call, shape: Shape, source: Tensor, result: Tensor, columns: Columns) -> None:
    """result = bias + transposed(weight) * source, added up as columns of the result."""
    g, w, b = call.read(source), call.read(call.weight), call.given(_bias(call))
    memory = columns.write(call, shape, g)
    out = call.write(result, (*shape.batch, prod(shape.kinds) * shape.planes, *shape.size))
    _columns.spread(
        shape.windows,
        g.reshape(-1, *shape.results[1:]),
        shape.matrices(_by_kind(w, shape)),
        b,
        out.reshape(shape.images),
        memory,
    )


def _by_kind(weight: Array, shape: Shape) -> Array:
    """Weights or biases, which are maps x kinds x others, in the order kinds x maps x others."""
    kinds = prod(shape.kinds)
    if min(kinds, shape.maps) == 1:
        return weight
    return np.ascontiguousarray(weight.reshape(shape.maps, kinds, -1).swapaxes(0, 1))


def _store_by_kind(sums: Array, shape: Shape, weight: Array) -> None:
    """Put such weights back, where they are a copy."""
    kinds = prod(shape.kinds)
    if min(kinds, shape.maps) > 1:
        turned = sums.reshape(kinds, shape.maps, -1).swapaxes(0, 1)
        weight[...] = turned.reshape(weight.shape)


def _bias(call: Call) -> Tensor | None:
    """The bias, which updateGradInput has not, or does not use."""
    return None if hasattr(call, "gradOutput") else call.bias


def accumulate(call: Call, shape: Shape, columns: Columns, full: bool = False) -> None:
    """Add scale times maps * the columns of images to gradWeight, sums of gradOutput to gradBias.

    full: whether the images are gradOutput, not the input.
    """
    samples = shape.images[0]
    images, maps = (call.gradOutput, call.input) if full else (call.input, call.gradOutput)
    g = call.read(maps).reshape(-1, *shape.results[1:])[:samples]
    x = None
    if columns.kept and columns.tensor is not None:
        memory = call.read(columns.tensor).reshape(-1, *shape.columns)
    else:
        x = call.read(images).reshape(-1, *shape.images[1:])[:samples]
        memory = columns.write(call, shape, x)
    weights = call.change(call.gradWeight)
    sums = _by_kind(weights, shape)
    _columns.weigh(shape.windows, x, g, shape.matrices(sums), call.scale, memory)
    _store_by_kind(sums, shape, weights)
    if call.gradBias is not None:
        added = x.reshape(samples, shape.planes, -1) if full and x is not None else g
        added = added.reshape(-1, prod(shape.kinds) * added.shape[1], added.shape[2])
        biases = call.change(call.gradBias)
        sums = _by_kind(biases, shape)
        _columns.add_sums(sums.reshape(-1), added, call.scale)
        _store_by_kind(sums, shape, biases)


# -- sizes


def check_contiguous(call: Call) -> None:
    """Raise an error where a gradient of weights or biases is not contiguous."""
    check(call.gradWeight.is_contiguous, 4, "gradWeight needs to be contiguous")
    if call.gradBias is not None:
        check(call.gradBias.is_contiguous, 5, "gradBias needs to be contiguous")


def of_weight(weight: Tensor, shape: Shape) -> Shape:
    """Return the sizes of a call. Raise an error unless weights, maps x others, fit the columns.

    Torch7: multiplies with what lies behind the weights.
    """
    depth = weight.nelement // weight.sizes[0]
    if depth != shape.columns[0]:
        raise TorchError(
            f"size mismatch, m1: {describe((shape.maps, depth))}, m2: {describe(shape.columns)}"
        )
    return shape


def count_places(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Sizes:
    """Count the places of a kernel's window on an image in each dimension.

    Torch7: C's division cuts towards 0, so that a window that is a little larger than the image may
    have one place.
    """
    numbers = zip(size, kernel, stride, padding, dilation, strict=True)
    return tuple(_cut(n + 2 * p - (d * (k - 1) + 1), s) + 1 for n, k, s, p, d in numbers)


def _cut(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def inner_windows(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, count: Sizes
) -> Windows:
    """The windows of a convolution that keeps its columns.

    Torch7: where no padding is positive, they begin at the image's first element, and elements
    behind its last one are read.
    """
    dims = len(size)
    if max(padding) > 0:
        return Windows.of(size, kernel, stride, padding, (1,) * dims, count)
    numbers = zip(size, kernel, stride, count, strict=True)
    if any((c - 1) * s + k > n for n, k, s, c in numbers):
        raise TorchError(f"the kernel does not fit into the input of size {describe(size)}")
    return Windows.of(size, kernel, stride, (0,) * dims, (1,) * dims, count)


def check_found(
    input_sizes: Sizes, output_sizes: Sizes, maps: int, planes: int, close: bool = False
) -> None:
    """Raise an error unless each size of the output is at least 1.

    The message names the sizes of the input with its planes, and of the output with its maps.
    close: whether these stand without spaces between them, as those of volumes always do.
    """
    if min(output_sizes) < 1:
        separator = "x" if close or len(output_sizes) == 3 else " x "
        before, after = (
            separator.join(map(str, x)) for x in ((planes, *input_sizes), (maps, *output_sizes))
        )
        raise TorchError(
            f"Given input size: ({before}). Calculated output size: ({after}). "
            "Output size is too small"
        )


def check_gradient(grad_output: Tensor | None, input: Tensor, sizes: Sequence[int]) -> None:
    """Raise an error unless gradOutput, where it is there, has these sizes in each sample.

    Torch7: reads beyond a gradOutput that has fewer samples than input.
    """
    if grad_output is None:
        return
    ndim = input.ndim
    for dim, size in enumerate(sizes, ndim - len(sizes)):
        check_size("gradOutput", grad_output, ndim, dim, size)
    if ndim > len(sizes) and grad_output.sizes[0] < input.sizes[0]:
        raise TorchError(
            f"gradOutput has fewer samples than input: gradOutput {describe(grad_output.sizes)}, "
            f"input {describe(input.sizes)}"
        )


def check_columns(finput: Tensor, shape: Shape) -> None:
    """Raise an error unless finput has the size that updateOutput has given it."""
    if finput.sizes != shape.all_columns:
        raise TorchError(
            f"finput needs the columns of updateOutput, of size {describe(shape.all_columns)}, "
            f"but got: {describe(finput.sizes)}"
        )
