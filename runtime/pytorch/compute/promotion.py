"""The type in which operands meet: tensors with dimensions, those without, and Python's numbers.

PyTorch's rule: operands of a lower kind change the type only where their category is higher. So
adding the tensor 2.5 without dimensions to float16 elements gives float16, and to int32 ones the
float type of that tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import Category, bool_, default_dtype, dtype, int64, promote_types
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.tensors.tensor import Tensor
from runtime.pytorch.tensors.writing import cast

Operand = Any  # a Tensor, or a number of Python's


def type_of_number(value: Any) -> dtype:
    """The element type that one of Python's numbers stands for.

    Raises NotImplementedError for complex numbers, OverflowError for ints that no type has.
    """
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise OverflowError("int too big to convert")
        return int64
    if isinstance(value, complex):
        raise NotImplementedError("complex numbers are not provided here")
    return default_dtype()


def _over(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """The type of both, where operands of the lower kind count less."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category >= Category.FLOAT:
        return higher
    if higher is bool_ or lower.category >= Category.FLOAT:
        return promote_types(higher, lower)
    return higher


def result_type(*operands: Operand) -> dtype:
    """The type in which elements of the operands are computed. Raises RuntimeError for none."""
    key: list[Any] = [default_dtype()]
    for operand in operands:
        if isinstance(operand, Tensor):
            array = operand.array
            key.append(array.dtype.num if array.ndim else ~array.dtype.num)
        else:
            # Ints beyond those of all types are errors.
            is_large = operand.__class__ is int and operand.bit_length() > 63
            key.append(operand if is_large else operand.__class__)
    kinds = tuple(key)
    found = _KNOWN.get(kinds)
    if found is None:
        found = _result_type(operands)
        if len(_KNOWN) < _MOST_KNOWN:
            _KNOWN[kinds] = found
    return found


#: Results by what decides them: the default type, and for each operand numpy's number for its type,
#: which is inverted for a tensor without dimensions, or the class of a number.
_KNOWN: dict[tuple[Any, ...], dtype] = {}
_MOST_KNOWN = 10_000


def _result_type(operands: tuple[Operand, ...]) -> dtype:
    kinds: list[dtype | None] = [None, None, None]  # with dimensions, without, numbers
    for operand in operands:
        if isinstance(operand, Tensor):
            at, kind = (0 if operand.array.ndim else 1), operand.dtype
        else:
            at, kind = 2, type_of_number(operand)
        known = kinds[at]
        kinds[at] = kind if known is None else promote_types(known, kind)
    found = _over(kinds[0], _over(kinds[1], kinds[2]))
    assert found is not None
    return found


def to_float(kind: dtype) -> dtype:
    """The type of a function's values that are no whole numbers: the default for whole ones."""
    return kind if kind.category >= Category.FLOAT else default_dtype()


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of one type may be written to a tensor of another."""
    if from_.category is Category.INTEGER and to.category is Category.BOOL:
        return False
    return from_.category <= to.category


def number_as(value: Any, kind: np.dtype[Any]) -> Any:
    """A number as numpy's number of a type, converted as C does."""
    if kind.kind == "f" or kind.kind == "b":
        number = value if abs(value) < 2**63 else float(value)
        return quietly.run(np.asarray(number).astype, kind)[()]
    if isinstance(value, int):
        bits = 8 * kind.itemsize
        low = -(1 << bits - 1) if kind.kind == "i" else 0
        return kind.type((value - low) % (1 << bits) + low)
    return cast(np.asarray(value), kind)[()]


def array_as(operand: Operand, kind: dtype) -> Any:
    """An operand's elements as numpy's array, or number, of a type."""
    if isinstance(operand, Tensor):
        return cast(operand.array, kind.numpy)
    return number_as(operand, kind.numpy)
