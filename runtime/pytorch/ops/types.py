"""Questions about element types. PyTorch's documentation: torch, Tensor Attributes."""

from __future__ import annotations

from runtime.pytorch.base import dtypes
from runtime.pytorch.base.dtypes import dtype
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Number, Operand
from runtime.pytorch.compute import promotion
from runtime.pytorch.tensors.tensor import Tensor


@op()
def result_type(tensor: Tensor, other: Tensor) -> dtype:
    """The type of a function's values where two operands meet."""
    return promotion.result_type(tensor, other)


@op(name="result_type")
def result_type_of_number(scalar: Number, tensor: Operand) -> dtype:
    """The type of a function's values where two operands meet."""
    return promotion.result_type(scalar, tensor)


op("result_type(Tensor tensor, Number other)")(result_type)


@op(name="result_type")
def result_type_of_numbers(scalar1: Number, scalar2: Number) -> dtype:
    """The type of a function's values where two numbers meet."""
    return promotion.result_type(scalar1, scalar2)


@op("can_cast(torch.dtype from_, torch.dtype to)")
def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of one type may be written to a tensor of another."""
    return promotion.can_cast(from_, to)


@op()
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The type of the result where elements of two types meet."""
    return dtypes.promote_types(type1, type2)
