"""Elements that a program's function computes, and a few methods that change or describe a tensor.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.shapes import Shape, listed
from runtime.pytorch.calls.device import NO_DRIVER
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Number
from runtime.pytorch.classes.storages import STORAGE_CLASSES
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast, check_single


def _visit(input: Tensor, compute: Callable[..., Any], others: tuple[Tensor, ...]) -> Tensor:
    """Set each element to what a function makes of it and the others in its place."""
    array = input.array
    check_single(array)
    columns = [np.broadcast_to(t.array, array.shape).reshape(-1).tolist() for t in others]
    values = [compute(*row) for row in zip(array.reshape(-1).tolist(), *columns, strict=True)]
    array[...] = cast(np.array(values), array.dtype).reshape(array.shape)
    return input


@op(function=False)
def apply_(input: Tensor, callable: Any) -> Tensor:
    """Set each element to what a function of Python's makes of it."""
    return _visit(input, callable, ())


@op(function=False)
def map_(input: Tensor, other: Tensor, callable: Any) -> Tensor:
    """Set each element to what a function makes of it and another tensor's."""
    return _visit(input, callable, (other,))


@op(function=False)
def map2_(input: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """Set each element to what a function makes of it and those of two other tensors."""
    return _visit(input, callable, (x, y))


@op(function=False)
def fill_diagonal_(input: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are equal; wrap: of tall matrices, again and again."""
    array = input.array
    if array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if array.ndim > 2 and len(set(array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    check_single(array)
    value = cast(np.asarray(fill_value), array.dtype)
    index = np.arange(min(array.shape))
    if wrap and array.ndim == 2 and array.shape[0] > array.shape[1] + 1:
        step = array.shape[1] + 1
        rows, columns = np.divmod(np.arange(0, array.size, step), array.shape[1])
        array[rows, columns] = value
    else:
        array[(index,) * array.ndim] = value
    return input


@op(function=False)
def sum_to_size(input: Tensor, size: Shape) -> Tensor:
    """The sums over those dimensions that a tensor of a size would be broadcast along."""
    array = input.array
    extra = array.ndim - len(size)
    fits = extra >= 0 and all(n in (1, m) for n, m in zip(size, array.shape[extra:], strict=False))
    if not fits:
        raise RuntimeError(
            f"size {{{listed(size)}}} is not expandable to size {{{listed(array.shape)}}}."
        )
    ones = [extra + d for d, n in enumerate(size) if n == 1 and array.shape[extra + d] != 1]
    along = tuple([*range(extra), *ones])
    total: Array = array.sum(along, keepdims=True) if along else array
    return wrap(total.reshape(size))


@op(name="is_pinned", function=False)
@op(function=False)
def is_shared(input: Tensor) -> bool:
    """Whether other processes, or a GPU, use the memory: never."""
    return False


@op(function=False)
def pin_memory(input: Tensor) -> Tensor:
    """Raise the error of PyTorch without a GPU."""
    raise RuntimeError(NO_DRIVER)


@op(function=False)
def share_memory_(input: Tensor) -> Tensor:
    """Raise NotImplementedError: processes do not share tensors here."""
    raise NotImplementedError("memory that processes share is not provided here")


@op(function=False)
def dim_order(input: Tensor) -> Shape:
    """The dimensions in the order of their strides, the largest first."""
    strides = input.strides
    return tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))


@op(function=False)
def storage_type(input: Tensor) -> Any:
    """The class of the tensor's storage: torch.FloatStorage."""
    return STORAGE_CLASSES[f"{input.dtype.scalar}Storage"]
