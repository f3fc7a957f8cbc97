"""The rules of shapes, each once: dimensions from the end, broadcasting, -1; and torch.Size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, SupportsIndex, overload

from th_shell.runtime.core.pickles import makes, restored

Shape = tuple[int, ...]


def listed(sizes: Iterable[int]) -> str:
    """Return sizes as PyTorch's messages have them: '[2, 3]'."""
    return "[" + ", ".join(map(str, sizes)) + "]"


def wrap_dim(dim: int, ndim: int, takes_scalar: bool = True) -> int:
    """Return a dimension counted from 0; negative ones count from the end. Raises IndexError.

    takes_scalar: a tensor without dimensions takes 0 and -1, else none.
    """
    if not (ndim or takes_scalar):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    count = ndim or 1
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], "
            f"but got {dim})"
        )
    return dim + count if dim < 0 else dim


def wrap_dims(dims: Iterable[int], ndim: int) -> Shape:
    """Return several different dimensions, counted from 0. Raises IndexError and RuntimeError."""
    wrapped = tuple(wrap_dim(dim, ndim) for dim in dims)
    for at, dim in enumerate(wrapped):
        if dim in wrapped[:at]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def broadcast(a: Shape, b: Shape) -> Shape:
    """Return the shape to which both are expanded. Raises RuntimeError in PyTorch's words.

    Sizes are compared from the last dimension on; 1, or none, goes with any size.
    """
    if a == b:
        return a
    ndim = max(len(a), len(b))
    full_a, full_b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    for dim in range(ndim - 1, -1, -1):
        if full_a[dim] != full_b[dim] and 1 not in (full_a[dim], full_b[dim]):
            raise RuntimeError(
                f"The size of tensor a ({full_a[dim]}) must match the size of tensor b "
                f"({full_b[dim]}) at non-singleton dimension {dim}"
            )
    return tuple(m if n == 1 else n for m, n in zip(full_a, full_b, strict=True))


def infer_size(sizes: Sequence[int], count: int) -> Shape:
    """Return sizes whose one -1 is replaced by what makes them have ``count`` elements.

    Raises RuntimeError where that is not possible, as `view` and `reshape` say it.
    """
    unknown = [dim for dim, size in enumerate(sizes) if size == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for dim, size in enumerate(sizes):
        if size < -1:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {dim} of shape {listed(sizes)}"
            )
    product = prod(size for size in sizes if size != -1)
    if product == count and not unknown:
        return tuple(sizes)
    if not unknown or (count % product if product else count):
        raise RuntimeError(f"shape '{listed(sizes)}' is invalid for input of size {count}")
    if not product:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {listed(sizes)} because the "
            f"unspecified dimension size -1 can be any value and is ambiguous"
        )
    full = list(sizes)
    full[unknown[0]] = count // product
    return tuple(full)


_INT64_LIMIT = 2**63


def check_long(*values: int) -> None:
    """Raise ValueError where an int has more than 64 bits."""
    if not all(-_INT64_LIMIT <= value < _INT64_LIMIT for value in values):
        raise ValueError("Overflow when unpacking long long")


class Size(tuple[int, ...]):
    """The sizes of a tensor: a tuple whose slices and sums are sizes, too."""

    __module__ = "torch"
    __slots__ = ()

    def __repr__(self) -> str:
        """Return the sizes as PyTorch prints them."""
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that makes an equal object, for pickle and copy."""
        return restored, ("Size", tuple(self))

    def numel(self) -> int:
        """Return the number of elements of a tensor of these sizes: 1 for no sizes."""
        return prod(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: Any) -> Any:
        """Return one size, or for a slice sizes."""
        part = tuple.__getitem__(self, key)
        return size_of(part) if isinstance(part, tuple) else part

    def __add__(self, sizes: Any) -> Any:
        """Return these sizes, then those of a tuple."""
        return Size((*self, *sizes)) if isinstance(sizes, tuple) else NotImplemented

    def __radd__(self, sizes: Any) -> Any:
        """Return the sizes of a tuple, then these."""
        return Size((*sizes, *self)) if isinstance(sizes, tuple) else NotImplemented


@makes("Size")
def size_of(sizes: tuple[int, ...]) -> Size:
    """Return the Size of a tuple."""
    return tuple.__new__(Size, sizes)
