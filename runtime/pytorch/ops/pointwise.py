"""Arithmetic, comparison and functions, element by element.

PyTorch's documentation: torch, Pointwise Ops and Comparison Ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.dtypes import Category, bool_
from runtime.pytorch.elementwise import FLOATS, NUMBERS, Pointwise, comparison, to_float
from runtime.pytorch.promotion import result_type
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor

__all__: list[str] = []

_OUT = "Tensor out = None"


def _reject_bools(a: Any, b: Any) -> None:
    kinds = [result_type(x) for x in (a, b)]
    if kinds == [bool_, bool_]:
        raise NotImplementedError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if bool_ in kinds and (isinstance(b, Tensor) or kinds[1] is bool_):
        raise NotImplementedError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


_add = Pointwise(np.add)
_subtract = Pointwise(np.subtract, NUMBERS, check=_reject_bools)
_multiply = Pointwise(np.multiply)
_divide = Pointwise(np.true_divide, FLOATS, rule=to_float)


def _scaled(other: Any, alpha: Any, kind: Any) -> Any:
    """``other * alpha``, where alpha is another number than 1."""
    if alpha.__class__ is float and kind.category < Category.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    return _multiply(other, alpha)


@op(f"add(Tensor input, Tensor other, *, Number alpha = 1, {_OUT})", in_place=True, numbers=True)
def add(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Any:
    """``input + alpha * other``, broadcast to one shape."""
    if alpha != 1:
        other = _scaled(other, alpha, result_type(input, other))
    return _add(input, other, out)


@op("add(Tensor input, Number alpha, Tensor other)", in_place=True, hidden=True)
def add_scaled(input: Any, alpha: Any, other: Any) -> Any:
    """``input + alpha * other``: the order of old programs."""
    return add(input, other, alpha=alpha)


@op(f"sub(Tensor input, Tensor other, *, Number alpha = 1, {_OUT})", in_place=True, numbers=True)
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Any:
    """``input - alpha * other``, broadcast to one shape."""
    if alpha != 1:
        other = _scaled(other, alpha, result_type(input, other))
    return _subtract(input, other, out)


@op(f"mul(Tensor input, Tensor other, *, {_OUT})", in_place=True, numbers=True)
def mul(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """``input * other``, broadcast to one shape."""
    return _multiply(input, other, out)


def _unary(name: str, function: Pointwise) -> None:
    @op(f"{name}(Tensor input, *, {_OUT})", in_place=True)
    def compute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        found: Tensor = function(input, None, out)
        return found

    compute.__doc__ = f"The function {name} of each element."


for _name, _ufunc in (("exp", np.exp), ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh)):
    _unary(_name, Pointwise(_ufunc, FLOATS, rule=to_float))


def _compare(name: str, ufunc: np.ufunc) -> Pointwise:
    function = comparison(ufunc)

    @op(
        f"{name}(Tensor input, Tensor other, *, {_OUT})",
        f"{name}(Tensor input, Number other, *, {_OUT})",
        in_place=True,
    )
    def compute(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
        return function(input, other, out)

    compute.__doc__ = (
        f"Whether {ufunc.__name__.replace('_', ' ')} is true of each pair of elements."
    )
    return function


_eq, _ne = _compare("eq", np.equal), _compare("ne", np.not_equal)
_lt, _le = _compare("lt", np.less), _compare("le", np.less_equal)
_gt, _ge = _compare("gt", np.greater), _compare("ge", np.greater_equal)


# -- operators

_OPERANDS = (Tensor, int, float, np.number, np.bool_)


def _operator(name: str, function: Any, reflected: bool = False) -> None:
    def forward(self: Tensor, other: Any) -> Any:
        if other.__class__ is not Tensor and not isinstance(other, _OPERANDS):
            return NotImplemented
        return function(self, other)

    def backward(self: Tensor, other: Any) -> Any:
        return function(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    setattr(Tensor, f"__{name}__", forward)
    if reflected:
        setattr(Tensor, f"__r{name}__", backward)


_operator("add", _add, reflected=True)
_operator("sub", _subtract, reflected=True)
_operator("mul", _multiply, reflected=True)
_operator("truediv", _divide, reflected=True)
for _name, _function in zip(
    ("eq", "ne", "lt", "le", "gt", "ge"), (_eq, _ne, _lt, _le, _gt, _ge), strict=True
):
    _operator(_name, _function)
Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]
