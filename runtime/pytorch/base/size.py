"""torch.Size: the sizes of a tensor, a tuple of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from operator import index
from typing import Any, SupportsIndex

from runtime.pytorch.base.c_types import CType, type_name

_INT64_LIMIT = 2**63


class Size(CType, tuple[int, ...]):
    """The sizes of a tensor: a tuple whose slices and sums are sizes, too."""

    __module__ = "torch"
    __slots__ = ()

    def __new__(cls, *sizes: Iterable[SupportsIndex]) -> Size:
        """The sizes that one iterable has; without one, none.

        Errors: TypeError for more arguments, and for what is no whole number; ValueError for
        numbers that need more than 64 bits.
        """
        if len(sizes) > 1:
            raise TypeError(f"tuple expected at most 1 argument, got {len(sizes)}")
        return tuple.__new__(cls, _whole_numbers(sizes[0]) if sizes else ())

    def __repr__(self) -> str:
        """The sizes as PyTorch prints them."""
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy."""
        return size_of, (tuple(self),)

    def numel(self) -> int:
        """How many elements a tensor of these sizes has, which is 1 for no sizes.

        PyTorch: the product wraps around as 64-bit integers do.
        """
        return (prod(self) + _INT64_LIMIT) % (2 * _INT64_LIMIT) - _INT64_LIMIT

    def __getitem__(self, key: Any) -> Any:
        """One size, or for a slice sizes."""
        found = tuple.__getitem__(self, key)
        return size_of(found) if isinstance(found, tuple) else found

    def __add__(self, other: Any) -> Any:
        """These sizes, then those of a tuple."""
        if isinstance(other, tuple):
            return Size((*self, *other))
        if hasattr(type(other), "__array_ufunc__"):  # numpy's arrays add to each number
            return NotImplemented
        raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to torch.Size")

    def __radd__(self, other: Any) -> Any:
        """Those of a tuple, then these sizes."""
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Any:
        """These sizes, several times."""
        if not hasattr(times, "__index__"):
            what = f"non-int of type '{type_name(times)}'"
            raise TypeError(f"can't multiply sequence by {what}")
        return size_of(tuple.__mul__(self, times))

    __rmul__ = __mul__


def size_of(sizes: tuple[int, ...]) -> Size:
    """The Size of a tuple that is known to have whole numbers, without looking at them."""
    return tuple.__new__(Size, sizes)


def _whole_numbers(sizes: Iterable[SupportsIndex]) -> Iterator[int]:
    for position, size in enumerate(sizes):
        try:
            whole = index(size)
        except TypeError:
            what = f"(item {position} is '{type_name(size)}')"
            raise TypeError(f"torch.Size() takes an iterable of 'int' {what}") from None
        if not -_INT64_LIMIT <= whole < _INT64_LIMIT:
            raise ValueError("Overflow when unpacking long long")
        yield whole
