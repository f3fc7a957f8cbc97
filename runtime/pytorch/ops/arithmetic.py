"""Arithmetic of two operands, element by element. PyTorch's documentation: torch, Pointwise Ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch import formulas
from runtime.pytorch.dtypes import Category, bool_, dtype, float64
from runtime.pytorch.elementwise import (
    ALL,
    FLOATS,
    NUMBERS,
    WHOLE,
    Pointwise,
    to_float,
)
from runtime.pytorch.promotion import array_as, result_type
from runtime.pytorch.shapes import broadcast
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap

__all__ = ["add_", "divide", "divide_floor", "multiply", "power_of", "remainder", "subtract"]

_OUT = "Tensor out = None"


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


add_ = Pointwise(np.add, kernel="add_stub", wide=True)
subtract = Pointwise(np.subtract, NUMBERS, check=reject_bools, kernel="add_stub", wide=True)
multiply = Pointwise(np.multiply, wide=True)
divide = Pointwise(np.true_divide, FLOATS, rule=to_float, wide=True)
divide_floor = Pointwise(formulas.divide_floor, NUMBERS, kernel="div_floor_cpu", takes=NUMBERS)
_divide_trunc = Pointwise(formulas.divide_trunc, NUMBERS, kernel="div_trunc_cpu", takes=NUMBERS)
remainder = Pointwise(formulas.remainder, NUMBERS, kernel="remainder_cpu", takes=NUMBERS)
_fmod = Pointwise(formulas.fmod, NUMBERS, kernel="fmod_cpu", takes=NUMBERS)
_power = Pointwise(formulas.power, NUMBERS, kernel="pow", takes=NUMBERS)


# -- sums and differences


def _scaled(input: Any, other: Any, alpha: Any) -> Any:
    """``other * alpha``, where alpha is another number than 1."""
    broadcast(*[x.sizes if isinstance(x, Tensor) else () for x in (input, other)])
    kind = result_type(input, other)
    if isinstance(alpha, bool) and kind is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind.category < Category.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if kind is bool_:
        return multiply(other, bool(alpha))
    factor = np.asarray(array_as(alpha, kind))
    if not isinstance(other, Tensor):
        return (array_as(other, kind) * factor).item()
    return multiply(wrap(np.asarray(array_as(other, kind))), wrap(factor))


def _add(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Any:
    """``input + alpha * other``, broadcast to one shape."""
    if alpha.__class__ is not int or alpha != 1:
        other = _scaled(input, other, alpha)
    return add_(input, other, out)


def _sub(input: Any, other: Any, alpha: Any = 1, *, out: Tensor | None = None) -> Any:
    """``input - alpha * other``, broadcast to one shape."""
    if alpha.__class__ is not int or alpha != 1:
        reject_bools(input, other)
        other = _scaled(input, other, alpha)
    return subtract(input, other, out)


def _rsub(input: Any, other: Any, alpha: Any = 1) -> Any:
    """``other - alpha * input``, broadcast to one shape."""
    return _sub(other, input, alpha)


_ALPHA = f"Tensor input, Tensor other, *, Number alpha = 1, {_OUT}"
_NUMBER_ALPHA = "Tensor input, Number other, Number alpha = 1"
op(f"add({_ALPHA})", in_place=True, numbers=True)(_add)
op(f"sub({_ALPHA})", in_place=True, numbers=True)(_sub)
op(f"subtract({_ALPHA})", f"subtract({_NUMBER_ALPHA})", in_place=True, numbers=True)(_sub)
op("rsub(Tensor input, Tensor other, *, Number alpha = 1)", f"rsub({_NUMBER_ALPHA})", method=False)(
    _rsub
)


def _old_order(name: str, function: Callable[..., Any]) -> None:
    @op(f"{name}(Tensor input, Number alpha, Tensor other)", in_place=True, hidden=True)
    def scaled(input: Any, alpha: Any, other: Any) -> Any:
        return function(input, other, alpha=alpha)

    scaled.__doc__ = f"`{name}` with its arguments in the order of old programs."


_old_order("add", _add)
_old_order("sub", _sub)


# -- functions of two operands


def binary(
    function: Pointwise,
    *rows: str,
    doc: str,
    in_place: bool = True,
    numbers: bool = False,
    method: bool | None = None,
) -> None:
    """Register a function of two operands, whose names the rows tell.

    Rows that begin with 'Number' have no method. A row without '*' gets `out`.
    """
    for row in rows:
        rest = row.partition("(")[2]
        first, second = (part.split(" ")[1] for part in rest.rstrip(")").split(", ")[:2])
        schema = row if "|" in row else f"{row[:-1]}, *, {_OUT})"
        compute = _of_two(function, first, second)
        compute.__doc__ = doc
        takes_method = method if rest.startswith("Tensor") else False
        op(
            schema.replace("|", ""),
            in_place=in_place and rest.startswith("Tensor"),
            numbers=numbers,
            method=takes_method,
        )(compute)


def _of_two(function: Pointwise, first: str, second: str) -> Callable[..., Any]:
    def compute(*operands: Any, out: Tensor | None = None, **named: Any) -> Any:
        if len(operands) == 2:
            return function(operands[0], operands[1], out)
        return function(operands[0] if operands else named[first], named[second], out)

    return compute


_TENSORS = "(Tensor input, Tensor other)"
_NUMBER = "(Tensor input, Number other)"
_NUMBER_ALONE = "(Tensor input, Number other|)"  # which has no out


@op(f"mul(Tensor input, Tensor other, *, {_OUT})", in_place=True, numbers=True)
def mul(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """``input * other``, broadcast to one shape."""
    return multiply(input, other, out)


binary(
    multiply,
    f"multiply{_TENSORS}",
    f"multiply{_NUMBER_ALONE}",
    doc="``input * other``, broadcast to one shape.",
    numbers=True,
)

_DIVISIONS = {None: divide, "trunc": _divide_trunc, "floor": divide_floor}


def _div(
    input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Any:
    """``input / other``; rounded towards zero ('trunc') or down ('floor') if rounding_mode says so.

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
    f"div(Tensor input, Tensor other, *, {_OUT})",
    f"div({_ROUNDED})",
    f"div({_ROUNDED_NUMBER})",
    f"divide(Tensor input, Tensor other, *, {_OUT})",
    f"divide({_ROUNDED})",
    "divide(Tensor input, Number other)",
    f"divide({_ROUNDED_NUMBER})",
    in_place=True,
    numbers=True,
)(_div)
binary(
    divide,
    f"true_divide{_TENSORS}",
    f"true_divide{_NUMBER_ALONE}",
    doc="``input / other``, broadcast to one shape.",
    numbers=True,
)
binary(
    divide_floor,
    f"floor_divide{_TENSORS}",
    f"floor_divide{_NUMBER_ALONE}",
    doc="``input // other``, broadcast to one shape.",
    numbers=True,
)
binary(
    remainder,
    f"remainder{_TENSORS}",
    "remainder(Number self, Tensor other|)",
    f"remainder{_NUMBER}",
    doc="``input % other``, with the sign of other.",
)
binary(
    _fmod,
    f"fmod{_TENSORS}",
    f"fmod{_NUMBER}",
    doc="What is left of the division of input by other, with the sign of input.",
)


# -- powers


def power_of(input: Any, exponent: Any, out: Tensor | None = None) -> Any:
    """``input ** exponent``, broadcast to one shape.

    Raises RuntimeError for negative exponents that are numbers, where elements are whole.
    """
    if isinstance(exponent, Tensor):
        return _power(input, exponent, out)
    kind = result_type(input, exponent)
    if kind.category is Category.INTEGER and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if kind is bool_:
        return _bool_power(input, exponent, out)
    return (
        _Powers.by(exponent)(input, None, out)
        if kind is input.dtype
        else _power(input, exponent, out)
    )


def _bool_power(input: Any, exponent: Any, out: Tensor | None) -> Any:
    return Pointwise(lambda a: a if exponent else np.ones_like(a))(input, None, out)


class _Powers:
    """Functions that raise to one power each."""

    known: dict[Any, Pointwise] = {}

    @classmethod
    def by(cls, exponent: Any) -> Pointwise:
        found = cls.known.get(exponent)
        if found is None:
            if len(cls.known) > 100:
                cls.known.clear()
            found = _power_by(exponent)
            cls.known[exponent] = found
        return found


def _power_by(exponent: Any) -> Pointwise:
    simple = {2: np.square, 0.5: np.sqrt}.get(exponent)
    if simple is not None:
        return Pointwise(simple, FLOATS, kernel="pow", takes=NUMBERS)
    return Pointwise(lambda a: formulas.power_by(a, exponent), NUMBERS, kernel="pow", takes=NUMBERS)


@op(f"pow(Tensor input, Tensor exponent, *, {_OUT})", in_place=True)
def pow_(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """``input ** exponent``, broadcast to one shape."""
    return power_of(input, exponent, out)


@op(f"pow(Number self, Tensor exponent, *, {_OUT})", method=False)
def pow_of_number(self: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """A number to the power of each element."""
    return _power(self, exponent, out)


op(f"pow(Tensor input, Number exponent, *, {_OUT})", in_place=True)(pow_)


def _to_double(kind: dtype) -> dtype:
    return float64


_float_power = Pointwise(formulas.power, frozenset(), rule=_to_double)


@op(f"float_power(Tensor input, Tensor exponent, *, {_OUT})", in_place=True)
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """``input ** exponent``, computed as torch.float64."""
    if out is not None and out.dtype is not float64:
        which = "base given to float_power_" if out is input else "output given to float_power"
        raise RuntimeError(
            f"the {which} has dtype {out.dtype.scalar} but the operation's result requires dtype "
            f"Double"
        )
    base = [
        wrap(x.array.astype(np.float64)) if isinstance(x, Tensor) else x for x in (input, exponent)
    ]
    return _float_power(base[0], base[1], out)


@op(f"float_power(Number self, Tensor exponent, *, {_OUT})", method=False)
def float_power_of_number(self: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
    """A number to the power of each element, computed as torch.float64."""
    return float_power(self, exponent, out=out)


op(f"float_power(Tensor input, Number exponent, *, {_OUT})", in_place=True)(float_power)


# -- other functions of two operands

for _name, _ufunc in (("maximum", np.maximum), ("minimum", np.minimum)):
    binary(
        Pointwise(_ufunc),
        f"{_name}{_TENSORS}",
        doc=f"The {_name} of two elements; nan where one is.",
        in_place=False,
    )
for _name, _ufunc in (("fmax", np.fmax), ("fmin", np.fmin)):
    binary(
        Pointwise(_ufunc),
        f"{_name}{_TENSORS}",
        doc=f"The {_name[1:]}imum of two elements; the other one where one is nan.",
        in_place=False,
    )
for _names, _ufunc in ((("atan2", "arctan2"), np.arctan2), (("copysign",), np.copysign)):
    for _name in _names:
        _rows = [f"{_name}{_TENSORS}"] + ([f"{_name}{_NUMBER}"] if _name == "copysign" else [])
        binary(
            Pointwise(_ufunc, FLOATS, rule=to_float),
            *_rows,
            doc=f"The function {_name} of two elements.",
        )
for _name, _ufunc in (
    ("hypot", np.hypot),
    ("nextafter", np.nextafter),
    ("logaddexp", np.logaddexp),
    ("logaddexp2", np.logaddexp2),
):
    binary(
        Pointwise(_ufunc, FLOATS, kernel=f"{_name}_cpu", takes=FLOATS),
        f"{_name}{_TENSORS}",
        doc=f"The function {_name} of two elements.",
        in_place=not _name.startswith("log"),
    )
for _name, _compute in (("gcd", np.gcd), ("lcm", formulas.lcm)):
    binary(
        Pointwise(_compute, WHOLE, kernel=f"{_name}_cpu", takes=WHOLE),
        f"{_name}{_TENSORS}",
        doc=f"The {_name} of two whole numbers.",
    )


def _check_same(a: Any, b: Any) -> None:
    if a.dtype is not b.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


binary(
    Pointwise(formulas.heaviside, check=_check_same, kernel="heaviside_cpu", takes=ALL),
    "heaviside(Tensor input, Tensor values)",
    doc="0 for elements below 0, 1 above, the value where they are 0.",
)


@op(f"ldexp(Tensor input, Tensor other, *, {_OUT})", in_place=True)
def ldexp(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
    """``input * 2 ** other``."""
    return multiply(input, _power(2.0, other), out)
