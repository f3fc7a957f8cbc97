"""Powers. PyTorch's documentation: torch, Pointwise Ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import Category, bool_, dtype, float64
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Number, Operand, Out
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import FLOATS, NUMBERS, Pointwise
from runtime.pytorch.compute.promotion import array_as, result_type, to_float
from runtime.pytorch.ops.arithmetic import multiply
from runtime.pytorch.ops.creation import fill_number
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import check_cast

_power = Pointwise(formulas.power, NUMBERS, kernel="pow", takes=NUMBERS)


def power_of(input: Any, exponent: Any, out: Out = None) -> Any:
    """``input ** exponent``, broadcast to one shape.

    Raises RuntimeError for negative exponents that are numbers, where elements are whole.
    """
    if isinstance(exponent, Tensor):
        return _power(input, exponent, out)
    numpy = input.array.dtype
    if numpy.kind == "f" and numpy.itemsize >= 4 and exponent.__class__ in (int, float):
        if -1e30 < exponent < 1e30:
            return _Powers.by(exponent)(input, None, out)
    kind = result_type(input, exponent)
    if kind.category is Category.INTEGER and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if kind is bool_:
        return _bool_power(input, exponent, out)
    number = fill_number(exponent, kind)
    if kind is not input.dtype:
        if out is not None:
            check_cast(kind, out.dtype)
        input = wrap(np.asarray(array_as(input, kind)))
    if kind.itemsize == 2 and kind.category is Category.FLOAT and exponent != -1:
        return _power(input, wrap(np.asarray(number)), out)
    return _Powers.by(exponent)(input, None, out)


def _bool_power(input: Any, exponent: Any, out: Out) -> Any:
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


@op(name="pow", in_place=True)
def pow_(input: Tensor, exponent: Tensor, *, out: Out = None) -> Any:
    """``input ** exponent``, broadcast to one shape."""
    return power_of(input, exponent, out)


@op(name="pow", method=False)
def pow_of_number(self: Number, exponent: Operand, *, out: Out = None) -> Any:
    """A number to the power of each element."""
    return _power(self, exponent, out)


op(f"pow(Tensor input, Number exponent, *, {OUT})", in_place=True)(pow_)


def _to_double(kind: dtype) -> dtype:
    return float64


_float_power = Pointwise(formulas.power, frozenset(), rule=_to_double)


@op(in_place=True)
def float_power(input: Tensor, exponent: Tensor, *, out: Out = None) -> Any:
    """``input ** exponent``, computed as torch.float64."""
    if out is not None and out.dtype is not float64:
        which = "base given to float_power_" if out is input else "output given to float_power"
        raise RuntimeError(
            f"the {which} has dtype {out.dtype.scalar} but the operation's result requires dtype "
            f"Double"
        )
    return _float_power(input, exponent, out)


@op(name="float_power", method=False)
def float_power_of_number(self: Number, exponent: Operand, *, out: Out = None) -> Any:
    """A number to the power of each element, computed as torch.float64."""
    return float_power(self, exponent, out=out)


op(f"float_power(Tensor input, Number exponent, *, {OUT})", in_place=True)(float_power)


@op(in_place=True)
def ldexp(input: Operand, other: Operand, *, out: Out = None) -> Any:
    """``input * 2 ** other``."""
    kind = to_float(result_type(input, other))
    if out is not None and kind.category > out.dtype.category:
        raise RuntimeError(f"ldexp can't be cast to the desired output type {out.dtype.scalar}")
    return multiply(input, _power(2.0, other), out)
