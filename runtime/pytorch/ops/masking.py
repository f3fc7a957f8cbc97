"""Elements set for which a mask is true: masked_fill, masked_scatter.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.base.shapes import broadcast
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Operand
from runtime.pytorch.ops.changing import changing
from runtime.pytorch.ops.creation import fill_number
from runtime.pytorch.ops.indexing import fill_value, fits
from runtime.pytorch.ops.views import expanded
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import check_target


def _check_mask(mask: Tensor, name: str) -> None:
    if mask.array.dtype.kind != "b":
        raise RuntimeError(
            f"{name} only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.scalar if name == 'masked_scatter_' else mask.dtype.real}"
        )


def _fill_masked(input: Tensor, mask: Tensor, value: Any) -> None:
    array = input.array
    if isinstance(value, Tensor):
        value = fill_value(value, "masked_fill_")
    element = value if fits(value, array) else fill_number(value, input.dtype)
    _check_mask(mask, "masked_fill_")
    if mask.array.shape != array.shape:
        check_target(array, broadcast(array.shape, mask.array.shape))
    if mask.array.shape == array.shape and array.flags.c_contiguous:
        np.putmask(array, mask.array, element)
    else:
        np.copyto(array, element, where=mask.array)


@op("masked_fill_(Tensor input, Tensor mask, Number value)", function=False)
@op(function=False)
def masked_fill_(input: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """Set the elements for which a mask is true."""
    _fill_masked(input, mask, value)
    return input


@op("masked_fill(Tensor input, Tensor mask, Number value)")
@op()
def masked_fill(input: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """A copy with the elements set for which a mask is true; both are broadcast."""
    array = input.array
    if mask.array.shape != array.shape:
        input = expanded(input, broadcast(mask.array.shape, array.shape))
    found = wrap(input.array.copy("C"))
    _fill_masked(found, mask, value)
    return found


@changing("masked_scatter(Tensor input, Tensor mask, Tensor source)", out=False, function=False)
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> None:
    """Set the elements for which a mask is true, one after the other, to those of a source."""
    array, values = input.array, source.array
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got"
            f"{input.dtype.scalar} and {source.dtype.scalar}"
        )
    _check_mask(mask, "masked_scatter_")
    chosen = expanded(mask, array.shape).array
    count = int(np.count_nonzero(chosen))
    if count > values.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    array[chosen] = values.reshape(-1)[:count]


@op()
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with elements set for which a mask is true, one after the other; broadcast."""
    shape = broadcast(mask.array.shape, input.array.shape)
    found = wrap(expanded(input, shape).array.copy("C"))
    masked_scatter_(found, mask, source)
    return found
