"""The checks of pooling's arguments: kernels, strides and paddings against the sizes of an input.

Tuples have a number for each dimension of a plane, the slowest first: (kH, kW), (kT, kH, kW).
"""

from __future__ import annotations

from runtime.core.errors import ArgError
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn.checks import check, check_size

Numbers = tuple[int, ...]


def in_order(numbers: Numbers, dims: int) -> list[Numbers]:
    """The header's groups of numbers, (depth,) width and height, as tuples of the slowest first."""
    groups = [numbers[i : i + dims] for i in range(0, len(numbers), dims)]
    return [(*group[:-2], group[-1], group[-2]) for group in groups]


def positive(
    position: int,
    what: str,
    letter: str,
    numbers: Numbers,
    zero: str = "zero",
    separator: str = " ",
) -> None:
    """Raise an error unless all numbers are: 'stride should be greater than zero, but got …'.

    letter: the start of their names, which end in those of the dimensions, T, H and W; or names.
    """
    if min(numbers) > 0:
        return
    names = letter.split() if " " in letter else [letter + x for x in "THW"[-len(numbers) :]]
    got = separator.join(f"{name}: {n}" for name, n in zip(names, numbers, strict=True))
    raise ArgError(position, f"{what} should be greater than {zero}, but got {got}")


def check_steps(
    position: int, kernel: Numbers, stride: Numbers, dilation: Numbers | None = None
) -> None:
    """Raise the error of numbers that are not positive, as convolutions do.

    position: that of the kernel's among the arguments.
    """
    positive(position, "kernel size", "k", kernel)
    positive(11, "stride", "d", stride)
    if dilation is not None:
        positive(15, "dilation", "dilation", dilation, separator=", ")


def check_batch(input: Tensor, dims: int, plain: bool = False) -> None:
    """Raise an error unless a tensor has planes of so many dimensions, or is a batch of such ones.

    plain: whether that is said in few words.
    """
    kinds = f"{dims + 1}D or {dims + 2}D"
    message = f"{kinds} (batch mode) tensor expected for input, but got: %s"
    if plain:
        message = f"{kinds} input tensor expected but got: %s"
    check(input.ndim in (dims + 1, dims + 2), 2, message, input)


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
