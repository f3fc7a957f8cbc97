"""The arithmetic operators of tensors: + - * / % and unary minus.

The result is a new tensor; `*` of two vectors is a number. Operands that do not fit raise
TorchError or ArgError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import ALL, checked
from th_shell.runtime.core.dtypes import DType, cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.ops._by_formula import Forms, Formula
from th_shell.runtime.ops.linalg.blas import multiply
from th_shell.runtime.ops.pointwise import cadd, csub, div, mul, remainder


def _expecting(dtype: DType) -> TorchError:
    name = dtype.tensor_name
    return TorchError(f"expecting two {name}s or one {name} and one number")


def _operand(call: Call, at: int) -> Tensor | None:
    value = call.get(at)
    return value if type(value) is TENSOR_CLASSES[call.dtype.index] else None


def _sum(a: Tensor, b: Tensor) -> Tensor:
    result = type(a)()
    cadd(result, a, 1, b)
    return result


def _difference(a: Tensor, b: Tensor) -> Tensor:
    result = type(a)()
    csub(result, a, 1, b)
    return result


_TENSOR_FIRST = Forms("*T* T real", "*T* T real", "a b")
_NUMBER_FIRST = Forms("*T* real T", "*T* real T", "a b")


def _add_operator(
    name: str,
    text: str,
    kinds: str,
    of_tensors: Callable[[Tensor, Tensor], Any],
    doc: str,
    small: str | None = None,
) -> None:
    """Add an operator of two operands, of which one may be a number."""
    with_number, of_number = Formula(text, _TENSOR_FIRST), Formula(text, _NUMBER_FIRST)

    def operator(call: Call) -> Any:
        a, b = _operand(call, 1), _operand(call, 2)
        if a is not None and b is not None:
            return of_tensors(a, b)
        result = TENSOR_CLASSES[call.dtype.index]()
        if a is not None:
            with_number.compute(result, a, call.real(2))
        elif b is not None:
            of_number.compute(result, call.real(1), b)
        else:
            raise _expecting(call.dtype)
        return result

    operator.__doc__ = f"{doc}."
    form = "T | real, T | real"
    checked(name, form, types=ALL, each=text, kinds=kinds, small=small)(operator)


_SUM, _DIFFERENCE = "a + b; one of them may be a number", "a - b; one of them may be a number"
_PRODUCT = "a * b: a multiple, or the product of vectors, matrix and vector, or matrices"
_add_operator("operator_add", "a + b", "TT TN NT", _sum, _SUM)
_add_operator("operator_sub", "a - b", "TT TN NT", _difference, _DIFFERENCE)
_add_operator("operator_mul", "a * b", "TN NT", multiply, _PRODUCT, small="linalg/blas.multiply")


def _divisor(call: Call) -> float | int:
    if type(call.get(2)) not in (int, float, bytes):
        raise ArgError(2, "number expected")
    return call.real(2)


def _add_quotient(name: str, text: str, compute: Callable[..., None], doc: str) -> None:
    def operator(call: Call) -> Tensor:
        a = call.tensor(1)
        result = type(a)()
        compute(result, a, _divisor(call))
        return result

    operator.__doc__ = doc
    checked(name, "T real", types=ALL, each=text, kinds="TN")(operator)


_REMAINDER = "double(a) - double(b) * double(floor(a / b))"
_add_quotient("operator_div", "a / b", div, "a / number.")
_add_quotient("operator_mod", _REMAINDER, remainder, "a % number, with the sign of the number.")


@checked("operator_unm", "T", types=ALL, each="a * -1", kinds="T TT")
def operator_unm(call: Call) -> Tensor:
    """-a."""
    a = call.tensor(1)
    result = type(a)()
    mul(result, a, cast_scalar(-1, a.dtype))
    return result
