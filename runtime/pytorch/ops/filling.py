"""Elements set in place: to a number, another tensor's, where a mask is true, or by a function.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.missing import type_name
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import Operand, TensorOrNumber
from th_shell.torch.calls.table import op
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.indexing import fill_value, fits
from th_shell.torch.ops.views import expanded
from th_shell.torch.tensors.layouts import check_apart
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, check_shape, check_single, check_target


@op()
def zero_(input: Tensor) -> Tensor:
    """Set all elements to zero."""
    input.array.fill(0)
    return input


@op()
def fill_(input: Tensor, value: TensorOrNumber) -> Tensor:
    """Set all elements to a number, which a tensor without dimensions may have.

    Raises RuntimeError for a number that does not fit the type, and for other tensors.
    """
    if not isinstance(value, Tensor):
        input.array.fill(fill_number(value, input.dtype))
        return input
    array = value.array
    wrong = "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions."
    require(not array.ndim, wrong, array.ndim)
    np.copyto(input.array, cast(array, input.array.dtype))
    return input


@op(method=False)
def fill(input: Tensor, value: TensorOrNumber) -> Tensor:
    """Return a tensor of the same sizes whose elements are all one number."""
    return fill_(wrap(np.array(input.array)), value)


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


# -- where a mask is true


def _fill_masked(input: Tensor, mask: Tensor, value: Any) -> None:
    array = input.array
    if isinstance(value, Tensor):
        value = fill_value(value, "masked_fill_")
    element = value if fits(value, array) else fill_number(value, input.dtype)
    wrong = "masked_fill_ only supports boolean masks, but got mask with dtype {}"
    require(mask.array.dtype.kind == "b", wrong, mask.dtype.real)
    if mask.array.shape != array.shape:
        check_target(array, broadcast(array.shape, mask.array.shape))
    np.copyto(array, element, where=mask.array)


@op(function=False)
def masked_fill_(input: Tensor, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """Set the elements for which a mask is true."""
    _fill_masked(input, mask, value)
    return input


@op()
def masked_fill(input: Tensor, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """Return a copy with the elements set for which a mask is true; both are broadcast."""
    array = input.array
    if mask.array.shape != array.shape:
        input = expanded(input, broadcast(mask.array.shape, array.shape))
    copy = wrap(input.array.copy("C"))
    _fill_masked(copy, mask, value)
    return copy


# -- by functions of the program


def _visit(input: Tensor, compute: Callable[..., Any], operands: tuple[Tensor, ...]) -> Tensor:
    """Set each element to what a function makes of it and the others in its place."""
    array = input.array
    check_single(array)
    require(callable(compute), "'{}' object is not callable", type_name(compute), error=TypeError)
    columns = [expanded(t, array.shape).array.reshape(-1).tolist() for t in operands]
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
