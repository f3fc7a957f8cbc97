"""The type in which operands meet: tensors with dimensions, those without, and Python's numbers.

PyTorch's rule: operands of a lower kind change the type only where their category is higher. So
adding the tensor 2.5 without dimensions to float16 elements gives float16, and to int32 ones the
float type of that tensor.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import (
    NUMPY_DTYPES,
    Category,
    bool_,
    default_dtype,
    dtype,
    int64,
    promote_types,
)
from th_shell.torch.base.quiet import quietly
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.tensors.writing import cast

Operand = Any  # a Tensor, or a number of Python's


def type_of_number(kind: type) -> dtype:
    """Return the element type that Python's numbers of a class stand for."""
    if issubclass(kind, complex):
        raise NotImplementedError("complex numbers are not provided here")
    return bool_ if issubclass(kind, bool) else int64 if issubclass(kind, int) else default_dtype()


def _over(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """Return the type of both, where operands of the lower kind count less."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category >= Category.FLOAT:
        return higher
    if higher is bool_ or lower.category >= Category.FLOAT:
        return promote_types(higher, lower)
    return higher


def result_type(*operands: Operand) -> dtype:
    """Return the type in which elements of the operands are computed.

    Raises RuntimeError for none, NotImplementedError for complex numbers, OverflowError for ints
    that no type has.
    """
    kinds: list[Any] = [default_dtype()]
    for operand in operands:
        if isinstance(operand, Tensor):
            array = operand.array
            kinds.append(array.dtype.num if array.ndim else ~array.dtype.num)
        else:
            if isinstance(operand, int) and not -(2**63) <= operand < 2**64:
                raise OverflowError("int too big to convert")
            kinds.append(operand.__class__)
    return _meeting(*kinds)


_BY_NUMBER: dict[int, dtype] = {
    kind.num: element_type for kind, element_type in NUMPY_DTYPES.items()
}


@lru_cache(maxsize=4096)
def _meeting(_: dtype, *operands: Any) -> dtype:
    """Return the type in which operands meet, by what decides it.

    That is the default type, and for each operand numpy's number for its type, which is inverted
    for a tensor without dimensions, or the class of a number.
    """
    kinds: list[dtype | None] = [None, None, None]  # with dimensions, without, numbers
    for operand in operands:
        if isinstance(operand, int):
            at, kind = (0 if operand >= 0 else 1), _BY_NUMBER[max(operand, ~operand)]
        else:
            at, kind = 2, type_of_number(operand)
        present = kinds[at]
        kinds[at] = kind if present is None else promote_types(present, kind)
    meeting = _over(kinds[0], _over(kinds[1], kinds[2]))
    assert meeting is not None
    return meeting


def to_float(kind: dtype) -> dtype:
    """Return the type of a function's fractional values: for whole operands the default type."""
    return kind if kind.category >= Category.FLOAT else default_dtype()


def number_as(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a number as numpy's number of a type, converted as C does."""
    if kind.kind == "f" or kind.kind == "b":
        number = value if abs(value) < 2**63 else float(value)
        return quietly.run(np.asarray(number).astype, kind)[()]
    if isinstance(value, int):
        bits = 8 * kind.itemsize
        low = -(1 << bits - 1) if kind.kind == "i" else 0
        return kind.type((value - low) % (1 << bits) + low)
    return cast(np.asarray(value), kind)[()]


def array_as(operand: Operand, kind: dtype) -> Any:
    """Return an operand's elements as numpy's array, or number, of a type."""
    if isinstance(operand, Tensor):
        return cast(operand.array, kind.numpy)
    return number_as(operand, kind.numpy)
