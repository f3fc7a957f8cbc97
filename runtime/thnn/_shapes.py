"""The checks of pooling's arguments: kernels, strides and paddings against the sizes of an input.

Tuples have a number for each dimension of a plane, the slowest first: (kH, kW), (kT, kH, kW).
"""

from __future__ import annotations

from functools import lru_cache

from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._windows import count_windows
from runtime.thnn.checks import check, check_size

Numbers = tuple[int, ...]


def in_order(numbers: Numbers, dims: int) -> list[Numbers]:
    """The header's groups of numbers, (depth,) width and height, as tuples of the slowest first."""
    groups = [numbers[i : i + dims] for i in range(0, len(numbers), dims)]
    return [(*group[:-2], group[-1], group[-2]) for group in groups]


def positive(position: int, what: str, letters: str, numbers: Numbers, zero: str = "zero") -> None:
    """Raise an error unless all numbers are: 'stride should be greater than zero, but got …'."""
    if min(numbers) > 0:
        return
    got = " ".join(f"{x}: {n}" for x, n in zip(letters.split(), numbers, strict=True))
    raise ArgError(position, f"{what} should be greater than {zero}, but got {got}")


@lru_cache(maxsize=64)
def image_windows(
    sizes: Sizes,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    ceil: bool,
    dilation: Numbers = (1, 1),
) -> Sizes:
    """How many windows an image has along its height and width; raises the errors of all numbers.

    sizes: those of the input: planes x height x width, or a batch of them.
    """
    positive(5, "kernel size", "kH kW", kernel)
    positive(8, "stride", "dH dW", stride)
    positive(12, "dilation", "dilationH dilationW", dilation)
    check(len(sizes) in (3, 4), 2, f"3D or 4D input tensor expected but got: {describe(sizes)}")
    (h, w), (pad_h, pad_w) = kernel, pad
    check(
        w // 2 >= pad_w and h // 2 >= pad_h,
        2,
        "pad should be smaller than half of kernel size, but got "
        f"padW = {pad_w}, padH = {pad_h}, kW = {w}, kH = {h}",
    )
    return windows_of(sizes, kernel, stride, pad, ceil, dilation)


def windows_of(
    sizes: Sizes, kernel: Numbers, stride: Numbers, pad: Numbers, ceil: bool, dilation: Numbers
) -> Sizes:
    """How many windows there are along each dimension of the planes of an input."""
    plane = sizes[-len(kernel) :]
    found = []
    for size, k, d, p, apart in zip(plane, kernel, stride, pad, dilation, strict=True):
        windows = count_windows(size, k, d, p, apart, ceil)
        # The last one begins inside of the plane, or the padding in front of it.
        found.append(windows - (any(pad) and (windows - 1) * d >= size + p))
    if min(found) < 1:
        planes = sizes[-len(kernel) - 1]
        before, after = ("x".join(map(str, (planes, *s))) for s in (plane, found))
        raise TorchError(
            f"Given input size: ({before}). Calculated output size: ({after}). "
            "Output size is too small"
        )
    return tuple(found)


def check_like(input: Tensor, windows: Sizes, planes: bool = True, **tensors: Tensor) -> None:
    """Raise an error unless tensors have the sizes of the input's results.

    planes: whether the dimension in front of those of a plane is that of planes, not of a batch.
    """
    first = input.ndim - len(windows)
    sizes = (*input.sizes[:first], *windows)
    for name, tensor in tensors.items():
        for dim in range(first - planes, input.ndim):
            check_size(name, tensor, input.ndim, dim, sizes[dim])
        # Torch7 does not look at the batch's size: it reads beyond the end of a smaller one.
        if tensor.sizes[0] < sizes[0]:
            check_size(name, tensor, input.ndim, 0, sizes[0])


def size_of(tensor: Tensor, dim: int) -> int:
    """The size in a dimension; raises the error of a tensor that has fewer dimensions."""
    check(dim < tensor.ndim, 2, f"dimension {dim + 1} out of range of {tensor.ndim}D tensor")
    return tensor.sizes[dim]
