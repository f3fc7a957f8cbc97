"""The checks of arguments that many functions of THNN's header make, with its errors.

names in the messages are those of the header's parameters; dimensions count from 0 there, and
positions of arguments from 1, the library's state being the first.

Tuples have a number for each dimension of a plane, the slowest first: (kH, kW), (kT, kH, kW).
"""

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe


def check(condition: bool, position: int, message: str, tensor: Tensor | None = None) -> None:
    """Raise the error about an argument unless a condition holds.

    tensor: the one whose sizes stand for %s in the message.
    """
    if not condition:
        raise ArgError(position, message if tensor is None else message % describe(tensor.sizes))


def check_shapes(**tensors: Tensor | None) -> None:
    """Raise an error where two tensors differ in their sizes, unless one of them is absent."""
    (first, a), (second, b) = tensors.items()
    if a is None or b is None or a.sizes == b.sizes:
        return
    raise TorchError(
        f"{first} and {second} shapes do not match: "
        f"{first} {describe(a.sizes)}, {second} {describe(b.sizes)}"
    )


def check_counts(**tensors: Tensor | None) -> None:
    """Raise an error where two tensors differ in their number of elements."""
    (first, a), (second, b) = tensors.items()
    if a is None or b is None or a.nelement == b.nelement:
        return
    raise TorchError(
        f"{first} and {second} have different number of elements: "
        f"{first}{describe(a.sizes)} has {a.nelement} elements, while "
        f"{second}{describe(b.sizes)} has {b.nelement} elements"
    )


def check_size(name: str, tensor: Tensor, ndim: int, dim: int, size: int) -> None:
    """Raise an error unless a tensor has so many dimensions, and that size in one of them."""
    if tensor.ndim != ndim or tensor.sizes[dim] != size:
        raise TorchError(
            f"Need {name} of dimension {ndim} and {name}.size[{dim}] == {size} but got {name} to "
            f"be of shape: {describe(tensor.sizes)}"
        )


def first_element(name: str, tensor: Tensor) -> Array:
    """A view, without dimensions, of the first element of a result or of what a call has kept."""
    if not tensor.nelement:
        raise TorchError(f"{name} has no elements")
    return tensor.array[(slice(0, 1),) * tensor.ndim].reshape(())


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
