"""Arithmetic of two operands, element by element; and Python's operators.

PyTorch's documentation: torch, Pointwise Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import Category, bool_
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import OUT, Number, Operand, Out
from th_shell.torch.calls.table import op, with_quick_call
from th_shell.torch.compute import formulas
from th_shell.torch.compute.elementwise import FLOATS, NUMBERS, Pointwise, called
from th_shell.torch.compute.promotion import array_as, result_type, to_float
from th_shell.torch.ops.binary import (
    BITS,
    COMPARISONS,
    NUMBER,
    NUMBER_ALONE,
    OF_NUMBER,
    OF_NUMBER_ALONE,
    TENSORS,
    binary,
)
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.unary import absolute, inverse, negative, positive
from th_shell.torch.tensors.layouts import check_apart
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import check_cast


def reject_bools(a: Any, b: Any) -> None:
    """Raise NotImplementedError for a difference of bools."""
    kinds = [result_type(x) for x in (a, b)]
    if kinds == [bool_, bool_]:
        raise NotImplementedError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if bool_ in kinds:
        raise NotImplementedError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


add_ = Pointwise(np.add, kernel="add_stub")
subtract = Pointwise(np.subtract, NUMBERS, check=reject_bools, kernel="add_stub")
multiply = Pointwise(np.multiply)
divide = Pointwise(np.true_divide, FLOATS, rule=to_float)
divide_floor = Pointwise(np.floor_divide, NUMBERS, kernel="div_floor_cpu", divides=True)
_divide_trunc = Pointwise(formulas.divide_trunc, NUMBERS, kernel="div_trunc_cpu")
remainder = Pointwise(
    formulas.remainder, NUMBERS, kernel="remainder_cpu", quick_whole=np.remainder, divides=True
)
_fmod = Pointwise(np.fmod, NUMBERS, kernel="fmod_cpu", divides=True)


# -- sums and differences


def _scaled(input: Any, operand: Any, alpha: Any, out: Out) -> Any:
    """Return ``other * alpha``, where alpha is another number than 1."""
    if out is not None:
        check_apart(out, (operand,))
    broadcast(*[x.sizes if isinstance(x, Tensor) else () for x in (input, operand)])
    kind = result_type(input, operand)
    if isinstance(alpha, bool) and kind is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind.category < Category.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if kind is bool_:
        return multiply(operand, bool(alpha))
    factor = np.asarray(fill_number(alpha, kind))
    if not isinstance(operand, Tensor):
        return (array_as(operand, kind) * factor).item()
    return multiply(wrap(np.asarray(array_as(operand, kind))), wrap(factor))


@op(in_place=True, numbers=True)
def add(input: Operand, other: Operand, *, alpha: Number = 1, out: Out = None) -> Tensor:
    """Return ``input + alpha * other``, broadcast to one shape."""
    if alpha.__class__ is not int or alpha != 1:
        other = _scaled(input, other, alpha, out)
    return add_(input, other, out)


with_quick_call(add, called(add_))

_ALPHA = f"Tensor input, Tensor other, *, Number alpha = 1, {OUT}"
_NUMBER_ALPHA = "Tensor input, Number other, Number alpha = 1"


@op(f"subtract({_ALPHA})", f"subtract({_NUMBER_ALPHA})", in_place=True, numbers=True)
@op(f"sub({_ALPHA})", in_place=True, numbers=True)
def sub(input: Any, other: Any, alpha: Any = 1, *, out: Out = None) -> Tensor:
    """Return ``input - alpha * other``, broadcast to one shape."""
    if alpha.__class__ is not int or alpha != 1:
        reject_bools(input, other)
        other = _scaled(input, other, alpha, out)
    return subtract(input, other, out)


# -- products and quotients

_PRODUCT = "``input * other``, broadcast to one shape."
binary("mul", multiply, doc=_PRODUCT, numbers=True)
binary("multiply", multiply, TENSORS, NUMBER_ALONE, doc=_PRODUCT, numbers=True)
_DIVISIONS = {None: divide, "trunc": _divide_trunc, "floor": divide_floor}


def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Out = None) -> Tensor:
    """Return ``input / other``, rounded towards zero ('trunc') or down ('floor') if asked for.

    Raises RuntimeError for other modes, and for a whole number divided by 0.
    """
    if rounding_mode not in _DIVISIONS:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    return _DIVISIONS[rounding_mode](input, other, out)


_ROUNDED = "Tensor input, Tensor other, *, str? rounding_mode, Tensor out = None"
_ROUNDED_NUMBER = "Tensor input, Number other, *, str? rounding_mode"
op(
    f"div(Tensor input, Tensor other, *, {OUT})",
    f"div({_ROUNDED})",
    f"div({_ROUNDED_NUMBER})",
    f"divide(Tensor input, Tensor other, *, {OUT})",
    f"divide({_ROUNDED})",
    "divide(Tensor input, Number other)",
    f"divide({_ROUNDED_NUMBER})",
    in_place=True,
    numbers=True,
)(_div)
_QUOTIENT = "``input / other``, broadcast to one shape."
binary("true_divide", divide, TENSORS, NUMBER_ALONE, doc=_QUOTIENT, numbers=True)
_FLOOR = "``input // other``, broadcast to one shape."
binary("floor_divide", divide_floor, TENSORS, NUMBER_ALONE, doc=_FLOOR, numbers=True)
_MODULO = "``input % other``, with the sign of other."
binary("remainder", remainder, TENSORS, OF_NUMBER_ALONE, NUMBER, doc=_MODULO)
_REST = "What is left of the division of input by other, with the sign of input."
binary("fmod", _fmod, TENSORS, NUMBER, doc=_REST)


def reversed_divide(input: Any, divisor: Any) -> Tensor:
    """Return ``input / divisor`` for a number and a tensor: the tensor's reciprocal times input."""
    return multiply(_reciprocal(divisor), input)


_reciprocal = Pointwise(np.reciprocal, FLOATS, rule=to_float)


# -- powers


_power = Pointwise(formulas.power, NUMBERS, kernel="pow")


def power_of(input: Any, exponent: Any, out: Out = None) -> Tensor:
    """Return ``input ** exponent``, broadcast to one shape.

    Raises RuntimeError for negative exponents that are numbers, where elements are whole.
    """
    if isinstance(exponent, Tensor):
        return _power(input, exponent, out)
    numpy = input.array.dtype
    if numpy.kind == "f" and numpy.itemsize >= 4 and exponent.__class__ in (int, float):
        if exponent.__class__ is float or -1e15 < exponent < 1e15:
            return _power_by(exponent)(input, None, out)
    kind = result_type(input, exponent)
    if kind.category is Category.INTEGER and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if kind is bool_:
        return Pointwise(lambda a: a if exponent else np.ones_like(a))(input, None, out)
    number = fill_number(exponent, kind)
    if kind is not input.dtype:
        if out is not None:
            check_cast(kind, out.dtype)
        input = wrap(np.asarray(array_as(input, kind)))
    if kind.itemsize == 2 and kind.category is Category.FLOAT and exponent != -1:
        return _power(input, wrap(np.asarray(number)), out)
    return _power_by(exponent)(input, None, out)


@lru_cache(maxsize=100)
def _power_by(exponent: Any) -> Pointwise:
    simple = {2: np.square, 0.5: np.sqrt}.get(exponent)
    if simple is not None:
        return Pointwise(simple, FLOATS, kernel="pow", takes=NUMBERS)
    return Pointwise(lambda a: formulas.power_by(a, exponent), NUMBERS, kernel="pow")


_EXPONENT = [form.replace("other", "exponent") for form in (TENSORS, OF_NUMBER, NUMBER)]
binary("pow", power_of, *_EXPONENT, doc="``input ** exponent``, broadcast to one shape.")


Binary = Callable[..., Any]
_OPERANDS = (Tensor, int, float, complex, np.number, np.bool_)
_PLAIN = frozenset((Tensor, int, float, bool))


def _operand(value: Any) -> Any:
    """Return an operand, numpy's numbers as Python's; NotImplemented for what is none."""
    if not isinstance(value, _OPERANDS):
        return NotImplemented
    return value.item() if isinstance(value, np.generic) else value


def _forward(function: Binary) -> Binary:
    def compute(self: Tensor, operand: Any) -> Any:
        if operand.__class__ not in _PLAIN:
            operand = _operand(operand)
            if operand is NotImplemented:
                return operand
        return function(self, operand)

    return compute


def _other_way(function: Binary, in_place: bool = False) -> Binary:
    """Return an operator with the tensor as second operand, or one that changes it in place."""

    def compute(self: Tensor, operand: Any) -> Any:
        operand = _operand(operand)
        if operand is NotImplemented:
            return operand
        return function(self, operand, self) if in_place else function(operand, self)

    return compute


def _define(name: str, function: Callable[..., Any]) -> None:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, function)


_BINARY: dict[str, Binary] = {
    "add": add_,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": divide_floor,
    "mod": remainder,
    "pow": power_of,
    **BITS,
}
for _name, _function in _BINARY.items():
    _function = called(_function)
    _define(f"__{_name}__", _forward(_function))
    _define(f"__r{_name}__", _other_way(_function))
    _define(f"__i{_name}__", _other_way(_function, in_place=True))
for _name, _function in COMPARISONS.items():
    _define(f"__{_name}__", _forward(called(_function)))


_compare, _divide_into = Tensor.__eq__, _other_way(reversed_divide)


def _equals(self: Tensor, operand: Any) -> Any:
    """Tell whether elements are equal; for this comparison numpy's arrays are tensors."""
    is_array = operand.__class__ is np.ndarray and operand.dtype.kind in "biuf"
    return _compare(self, wrap(operand) if is_array else operand)


def _divides(self: Tensor, dividend: Any) -> Any:
    """Return a number, or an array of numpy's, divided by the tensor."""
    if dividend.__class__ is np.ndarray:
        return _reciprocal(self, None, None) * dividend
    return _divide_into(self, dividend)


_define("__eq__", _equals)
_define("__rtruediv__", _divides)


def _unary(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    return lambda self: function(self)


_define("__neg__", _unary(called(negative)))
_define("__pos__", _unary(called(positive)))
_define("__abs__", _unary(called(absolute)))


def _invert(self: Tensor) -> Any:
    if self.dtype.is_floating_point:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return inverse(self)


_define("__invert__", _invert)


_define("__hash__", lambda self: id(self))  # as PyTorch's
