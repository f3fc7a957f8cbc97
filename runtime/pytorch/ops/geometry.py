"""What a tensor tells of itself: sizes, strides, type, device; and its elements as Python's.

The geometry is told even where the storage has become too small for it.
PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.base.size import size_of
from runtime.pytorch.calls.device import CPU
from runtime.pytorch.calls.table import op
from runtime.pytorch.tensors.tensor import Tensor

#: The Size of a shape of numpy's.
_size = lru_cache(maxsize=1024)(size_of)


@op(function=False)
def size(input: Tensor, dim: int | None = None) -> Any:
    """The sizes of all dimensions, or of one."""
    sizes = input.sizes
    if dim is None:
        return _size(sizes)
    if not sizes:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return sizes[wrap_dim(dim, len(sizes))]


@op(function=False)
def dim(input: Tensor) -> int:
    """The number of dimensions."""
    return len(input.sizes)


@op()
def numel(input: Tensor) -> int:
    """The number of elements."""
    return prod(input.sizes)


@op(function=False)
def item(input: Tensor) -> Any:
    """The only element, as a number of Python's. Raises RuntimeError where there are others."""
    array = input.array
    if array.size != 1:
        raise RuntimeError(f"a Tensor with {array.size} elements cannot be converted to Scalar")
    return array.item()


@op(function=False)
def tolist(input: Tensor) -> Any:
    """The elements as lists in lists; a number where there is no dimension."""
    return input.array.tolist()


def _property(name: str, read: Any) -> None:
    setattr(Tensor, name, property(read))


_property("shape", lambda self: _size(self.sizes))
_property("ndim", lambda self: len(self.sizes))
_property("device", lambda self: CPU)
