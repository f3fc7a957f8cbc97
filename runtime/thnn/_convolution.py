"""What the families of convolutions share: sizes, checks, and the arrays of their tensors.

Sizes, kernels, strides and paddings are tuples of numbers for (depth,) height and width, in the
order of a tensor's dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._geometry import Windows
from runtime.thnn.checks import check_size


@dataclass(frozen=True)
class Shape:
    """The sizes of a call: images with planes, and what is made of them, maps with places.

    batch: the number of samples as a size; empty for a single one. size: of an image. count: the
    places in each dimension.
    """

    batch: Sizes
    planes: int
    maps: int
    size: Sizes
    count: Sizes
    windows: Windows

    @cached_property
    def images(self) -> Sizes:
        """The shape of the images as `_columns` takes them."""
        return (prod(self.batch), self.planes, *self.windows.size)

    @cached_property
    def results(self) -> Sizes:
        """The shape of the maps as `_columns` takes them."""
        return (prod(self.batch), self.maps, self.windows.places)

    @cached_property
    def columns(self) -> Sizes:
        """The size of the columns of a sample."""
        return (self.planes * self.windows.taps, self.windows.places)


#: The checks of sizes of a call: input, gradOutput, weight, bias and the call's numbers.
Check = Callable[[Tensor, Tensor | None, Tensor, Tensor | None, tuple[int, ...]], Shape]

_KNOWN = 256


def remembered(check_sizes: Check) -> Check:
    """The same check, which keeps the last results: calls come with the same sizes again."""
    known: dict[tuple[object, ...], Shape] = {}

    def look_up(
        input: Tensor,
        grad_output: Tensor | None,
        weight: Tensor,
        bias: Tensor | None,
        numbers: tuple[int, ...],
    ) -> Shape:
        sizes = [t and t.sizes for t in (input, grad_output, weight, bias)]
        key = (*sizes, numbers)
        shape = known.get(key)
        if shape is None:
            shape = check_sizes(input, grad_output, weight, bias, numbers)
            if len(known) >= _KNOWN:
                known.clear()
            known[key] = shape
        return shape

    return look_up


def check_depth(weight: Tensor, shape: Shape) -> None:
    """Raise an error unless weights, maps x others, fit the columns.

    Torch7: multiplies with what lies behind the weights.
    """
    depth = weight.nelement // weight.sizes[0]
    if depth != shape.columns[0]:
        raise TorchError(
            f"size mismatch, m1: {describe((shape.maps, depth))}, m2: {describe(shape.columns)}"
        )


def count_places(
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Sizes:
    """How many places a kernel's window has on an image in each dimension.

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


def full_size(
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    extra: Sequence[int],
) -> Sizes:
    """The size of the image that has so many places for a kernel's window, and some extra."""
    numbers = zip(size, kernel, stride, padding, dilation, extra, strict=True)
    return tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 + e for n, k, s, p, d, e in numbers)


def check_positive(position: int, what: str, separator: str = " ", **numbers: int) -> None:
    """Raise the error about an argument unless numbers, by their names, are positive."""
    if min(numbers.values()) <= 0:
        got = separator.join(f"{name}: {number}" for name, number in numbers.items())
        raise ArgError(position, f"{what} should be greater than zero, but got {got}")


def too_small(given: Sequence[int], found: Sequence[int], separator: str = " x ") -> TorchError:
    """The error about an image's planes and size, and the planes and size of the result."""
    before, after = (separator.join(map(str, numbers)) for numbers in (given, found))
    return TorchError(
        f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
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


def check_columns(finput: Tensor, expected: Sizes) -> None:
    """Raise an error unless finput has the size that updateOutput has given it."""
    if finput.sizes != expected:
        raise TorchError(
            f"finput needs the columns of updateOutput, of size {describe(expected)}, "
            f"but got: {describe(finput.sizes)}"
        )
