"""The arithmetic operators of tensors: + - * / % and unary minus.

The result is a new tensor; `*` of two vectors is a number. Operands that do not fit raise
TorchError or ArgError.
"""

from __future__ import annotations

import numpy as np

from runtime.calls.arguments import Call
from runtime.calls.table import ALL, checked
from runtime.core.dtypes import DType, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from runtime.ops.linalg.blas import multiply
from runtime.ops.pointwise import add, cadd, csub, div, mul, remainder


def _expecting(dtype: DType) -> TorchError:
    name = dtype.tensor_name
    return TorchError(f"expecting two {name}s or one {name} and one number")


def _operand(call: Call, at: int) -> Tensor | None:
    value = call.get(at)
    return value if type(value) is TENSOR_CLASSES[call.dtype.index] else None


@checked("operator_add", "T | real, T | real", types=ALL, each="a + b", kinds="TT TN NT")
def operator_add(call: Call) -> Tensor:
    """a + b; one of them may be a number."""
    a, b = _operand(call, 1), _operand(call, 2)
    result = TENSOR_CLASSES[call.dtype.index]()
    if a is not None and b is not None:
        cadd(result, a, 1, b)
    elif a is not None:
        add(result, a, call.real(2))
    elif b is not None:
        add(result, b, call.real(1))
    else:
        raise _expecting(call.dtype)
    return result


@checked("operator_sub", "T | real, T | real", types=ALL, each="a - b", kinds="TT TN NT")
def operator_sub(call: Call) -> Tensor:
    """a - b; one of them may be a number."""
    a, b = _operand(call, 1), _operand(call, 2)
    result = TENSOR_CLASSES[call.dtype.index]()
    if a is not None and b is not None:
        csub(result, a, 1, b)
    elif a is not None:
        add(result, a, cast_scalar(-call.real(2), call.dtype))
    elif b is not None:
        value = call.real(1)
        result.resize(b.sizes)
        np.subtract(b.array.dtype.type(value), b.array, out=result.array)
    else:
        raise _expecting(call.dtype)
    return result


@checked(
    "operator_mul",
    "T | real, T | real",
    types=ALL,
    each="a * b",
    kinds="TN NT",
    small="linalg/blas.multiply",
)
def operator_mul(call: Call) -> Tensor | float:
    """a * b: a multiple, or the product of vectors, matrix and vector, or matrices."""
    a, b = _operand(call, 1), _operand(call, 2)
    result = TENSOR_CLASSES[call.dtype.index]()
    if a is not None and b is not None:
        return multiply(a, b)
    if a is not None:
        mul(result, a, call.real(2))
    elif b is not None:
        mul(result, b, call.real(1))
    else:
        raise _expecting(call.dtype)
    return result


def _divisor(call: Call) -> float | int:
    if type(call.get(2)) not in (int, float, bytes):
        raise ArgError(2, "number expected")
    return call.real(2)


@checked("operator_div", "T real", types=ALL, each="a / b", kinds="TN")
def operator_div(call: Call) -> Tensor:
    """a / number."""
    a = call.tensor(1)
    result = type(a)()
    div(result, a, _divisor(call))
    return result


@checked(
    "operator_mod",
    "T real",
    types=ALL,
    each="double(a) - double(b) * double(floor(a / b))",
    kinds="TN",
)
def operator_mod(call: Call) -> Tensor:
    """a % number, with the sign of the number."""
    a = call.tensor(1)
    result = type(a)()
    remainder(result, a, _divisor(call))
    return result


@checked("operator_unm", "T", types=ALL, each="a * -1", kinds="T TT")
def operator_unm(call: Call) -> Tensor:
    """-a."""
    a = call.tensor(1)
    result = type(a)()
    mul(result, a, cast_scalar(-1, a.dtype))
    return result
