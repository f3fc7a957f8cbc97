"""Elements set in place: to a number, or to another tensor's.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

import numpy as np

from runtime.pytorch.base.shapes import broadcast
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Number, Operand
from runtime.pytorch.ops.creation import fill_number
from runtime.pytorch.tensors.overlap import check_apart
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast, check_shape, check_single


@op()
def zero_(input: Tensor) -> Tensor:
    """Set all elements to zero."""
    input.array.fill(0)
    return input


@op(name="fill_")
def fill_with_element(input: Tensor, value: Tensor) -> Tensor:
    """Set all elements to that of a tensor without dimensions. Raises RuntimeError for others."""
    if value.array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} "
            f"dimensions."
        )
    np.copyto(input.array, cast(value.array, input.array.dtype))
    return input


@op()
def fill_(input: Tensor, value: Number) -> Tensor:
    """Set all elements to a number. Raises RuntimeError for one that does not fit the type."""
    input.array.fill(fill_number(value, input.dtype))
    return input


@op("fill(Tensor input, Number value)", method=False)
@op(method=False)
def fill(input: Tensor, value: Operand) -> Tensor:
    """A tensor of the same sizes whose elements are all one number."""
    copy = wrap(np.array(input.array))
    if isinstance(value, Tensor):
        fill_with_element(copy, value)
    else:
        fill_(copy, value)
    return copy


@op(function=False, numbers=True)
def copy_(input: Tensor, other: Operand, non_blocking: bool = False) -> Tensor:
    """Set the elements to another tensor's, which is broadcast and converted."""
    if not isinstance(other, Tensor):
        other = wrap(np.asarray(other))
    is_itself: bool = other is input
    if is_itself:
        return input
    array, values = input.array, other.array
    if not array.flags.forc:
        check_single(array)
    if input._storage is not None:
        check_apart(input, (other,))
    if array.shape != values.shape:
        check_shape(array, broadcast(array.shape, values.shape))
    np.copyto(array, cast(values, array.dtype))
    return input
