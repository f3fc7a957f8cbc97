"""Manual, Math Functions: element-wise operations, and the arithmetic operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.dispatch import FLOATS, Call, checked, op
from runtime.dtypes import Array, DType, cast_scalar
from runtime.errors import ArgError, TorchError
from runtime.ops._operands import check_counts, elementwise
from runtime.ops.blas import multiply
from runtime.tensor import TENSOR_CLASSES, Tensor


@op("add", method="*T* [T=1] real", function="[*T*] T real")
def add(r: Tensor, t: Tensor, value: float) -> None:
    """r = t + value."""
    r.resize(t.sizes)
    elementwise(r, np.add, t, value)


@op("add", method="*T* [T=1] [real=1] T", function="[*T*] T [real=1] T")
def cadd(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
    """r = t + value * src."""
    if t.nelement != src.nelement:
        check_counts(r_=t, t=t, src=src)
    r.resize(t.sizes)
    if value == 1:
        elementwise(r, np.add, t, src)
    else:
        scaled = type(src).of(np.multiply(src.array, value))
        elementwise(r, np.add, t, scaled)


@op("mul", method="*T* [T=1] real", function="[*T*] T real")
def mul(r: Tensor, t: Tensor, value: float) -> None:
    """r = t * value."""
    r.resize(t.sizes)
    elementwise(r, np.multiply, t, value)


@op("cmul", method="*T* [T=1] T", function="[*T*] T T")
def cmul(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = t * src, element by element."""
    if t.nelement != src.nelement:
        check_counts(r_=t, t=t, src=src)
    r.resize(t.sizes)
    elementwise(r, np.multiply, t, src)


@op("div", method="*T* [T=1] real", function="[*T*] T real")
def div(r: Tensor, t: Tensor, value: float) -> None:
    """r = t / value; whole numbers are cut towards zero."""
    r.resize(t.sizes)
    elementwise(r, _divide(r.dtype, value), t, value)


def _divide(dtype: DType, value: float) -> Callable[..., Array]:
    """What divides arrays of a type by a number."""
    if dtype.is_float:
        return np.divide
    if value == 0:
        # Torch7: the process dies of SIGFPE.
        raise TorchError("division by zero")
    return _truncated_quotient


def _truncated_quotient(values: Array, divisor: float, **result: Array) -> Array:
    quotient = np.floor_divide(values, divisor)
    short = (quotient < 0) & (quotient * quotient.dtype.type(divisor) != values)
    return np.add(quotient, short, dtype=values.dtype, casting="unsafe", **result)  # type: ignore


@op("floor", method="*T* [T=1]", function="[*T*] T", types=FLOATS)
def floor(r: Tensor, t: Tensor) -> None:
    """r = the largest whole number not above t."""
    r.resize(t.sizes)
    elementwise(r, np.floor, t)


@op("floor", method="real", function="real", types=FLOATS)
def floor_number(value: float) -> float:
    """The largest whole number not above a number."""
    return float(np.floor(value))


@op("exp", method="*T* [T=1]", function="[*T*] T", types=FLOATS)
def exp(r: Tensor, t: Tensor) -> None:
    """r = e to the power of t."""
    r.resize(t.sizes)
    elementwise(r, np.exp, t)


@op("exp", method="real", function="real", types=FLOATS)
def exp_number(value: float) -> float:
    """e to the power of a number."""
    return float(np.exp(value))


# -- operators; '*' of two tensors is a product of vectors and matrices


def _expecting(dtype: DType) -> TorchError:
    name = dtype.tensor_name
    return TorchError(f"expecting two {name}s or one {name} and one number")


def _operand(call: Call, at: int) -> Tensor | None:
    value = call.get(at)
    return value if type(value) is TENSOR_CLASSES[call.dtype.index] else None


@checked("operator_add", method="T | real, T | real")
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


@checked("operator_sub", method="T | real, T | real")
def operator_sub(call: Call) -> Tensor:
    """a - b; one of them may be a number."""
    a, b = _operand(call, 1), _operand(call, 2)
    result = TENSOR_CLASSES[call.dtype.index]()
    if a is not None and b is not None:
        cadd(result, a, -1, b)
    elif a is not None:
        add(result, a, cast_scalar(-call.real(2), call.dtype))
    elif b is not None:
        value = call.real(1)
        result.resize(b.sizes)
        np.subtract(b.array.dtype.type(value), b.array, out=result.array)
    else:
        raise _expecting(call.dtype)
    return result


@checked("operator_mul", method="T | real, T | real")
def operator_mul(call: Call) -> Tensor | float:
    """a * b: with a number, or dot, matrix-vector, matrix-matrix product."""
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


@checked("operator_div", method="T real")
def operator_div(call: Call) -> Tensor:
    """a / number."""
    a = call.tensor(1)
    result = type(a)()
    div(result, a, _divisor(call))
    return result


@checked("operator_mod", method="T real")
def operator_mod(call: Call) -> Tensor:
    """a % number, with the sign of the number."""
    a, value = call.tensor(1), _divisor(call)
    result = type(a).new(a.sizes)
    if not a.dtype.is_float and value == 0:
        # Torch7: the process dies of SIGFPE.
        raise TorchError("division by zero")
    np.remainder(a.array, value, out=result.array)
    return result


@checked("operator_unm", method="T")
def operator_unm(call: Call) -> Tensor:
    """-a."""
    a = call.tensor(1)
    result = type(a)()
    mul(result, a, cast_scalar(-1, a.dtype))
    return result
