"""The checks of arguments that many functions of THNN's header make, with its errors.

names in the messages are those of the header's parameters; dimensions count from 0 there, and
positions of arguments from 1, the library's state being the first.
"""

from __future__ import annotations

from runtime.core.dtypes import Array
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe


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
