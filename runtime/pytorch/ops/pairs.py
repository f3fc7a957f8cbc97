"""Functions of two operands, element by element; and how they are registered.

PyTorch's documentation: torch, Pointwise Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import bool_
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Operand, Out
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, BITWISE, FLOATS, STORED, WHOLE, Pointwise
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.tensors.tensor import Tensor

#: The forms that functions of two operands have; their own names stand before.
TENSORS = f"(Tensor input, Tensor other, *, {OUT})"
NUMBER = f"(Tensor input, Number other, *, {OUT})"
NUMBER_ALONE = "(Tensor input, Number other)"
OF_NUMBER = f"(Number self, Tensor other, *, {OUT})"
OF_NUMBER_ALONE = "(Number self, Tensor other)"


def binary(
    names: str,
    function: Callable[..., Any],
    *forms: str,
    doc: str = "",
    in_place: bool = True,
    numbers: bool = False,
) -> None:
    """Register a function of two operands under its names, by default for two tensors."""

    def compute(first: Any, second: Any, *, out: Out = None) -> Any:
        return function(first, second, out)

    name = names.split()[0].removeprefix("special_")
    compute.__doc__ = doc or f"The function {name} of two elements."
    for name in names.split():
        for form in forms or (TENSORS,):
            changes = in_place and form.startswith("(Tensor")
            op(name + form, in_place=changes, numbers=numbers)(compute)


def _of_floats(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, FLOATS, kernel=f"{name}_cpu", takes=FLOATS)


def _of_whole(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, WHOLE, kernel=f"{name}_cpu", takes=WHOLE)


for _name, _what, _compute in (
    ("maximum", "maximum of two elements; nan where one is.", np.maximum),
    ("minimum", "minimum of two elements; nan where one is.", np.minimum),
    ("fmax", "maximum of two elements; the other one where one is nan.", np.fmax),
    ("fmin", "minimum of two elements; the other one where one is nan.", np.fmin),
):
    binary(_name, Pointwise(_compute), in_place=False, doc=f"The {_what}")
binary("atan2 arctan2", Pointwise(np.arctan2, FLOATS, rule=to_float))
binary("copysign", Pointwise(np.copysign, FLOATS, rule=to_float), TENSORS, NUMBER)
binary("hypot", _of_floats("hypot", np.hypot))
binary("nextafter", _of_floats("nextafter", np.nextafter))
binary("logaddexp", _of_floats("logaddexp", np.logaddexp), in_place=False)
binary("logaddexp2", _of_floats("logaddexp2", np.logaddexp2), in_place=False)
binary("gcd", _of_whole("gcd", np.gcd))
binary("lcm", _of_whole("lcm", formulas.lcm))


def _check_same(a: Any, b: Any) -> None:
    if a.dtype is not b.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


_heaviside = Pointwise(formulas.heaviside, check=_check_same, kernel="heaviside_cpu", takes=ALL)


@op(in_place=True)
def heaviside(input: Operand, values: Operand, *, out: Out = None) -> Any:
    """0 for elements below 0, 1 above, the value where they are 0."""
    if out is not None:
        _check_same(input, out)
    return _heaviside(input, values, out)


# -- comparisons


_UFUNCS = {
    "eq": ("equal", np.equal),
    "ne": ("not_equal", np.not_equal),
    "lt": ("less", np.less),
    "le": ("less_equal", np.less_equal),
    "gt": ("greater", np.greater),
    "ge": ("greater_equal", np.greater_equal),
}
#: The comparisons by the names of their operators.
COMPARISONS = {
    name: Pointwise(
        ufunc, result=bool_, kernel=f"{name}_cpu", takes=STORED if name in ("eq", "ne") else ALL
    )
    for name, (_, ufunc) in _UFUNCS.items()
}
for _short, (_long, _) in _UFUNCS.items():
    _doc = f"Whether {_long.replace('_', ' ')} is true of each pair of elements."
    _names = _short if _short == "eq" else f"{_short} {_long}"
    binary(_names, COMPARISONS[_short], TENSORS, NUMBER, doc=_doc)


@op()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and equal elements."""
    a, b = input.array, other.array
    return a.shape == b.shape and bool((a == b).all())


# -- nearly the same


def _check_tolerances(input: Tensor, other: Tensor, rtol: float, atol: float) -> None:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.scalar} did not match {other.dtype.scalar}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")


@op()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether elements differ by no more than atol + rtol * abs(other)."""
    _check_tolerances(input, other, rtol, atol)
    close = Pointwise(lambda a, b: formulas.isclose(a, b, rtol, atol, equal_nan), result=bool_)
    found: Tensor = close(input, other)
    return found


@op()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements differ by no more than atol + rtol * abs(other)."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


# -- logic

for _name in ("logical_and", "logical_or", "logical_xor"):
    binary(
        _name,
        Pointwise(getattr(np, _name), result=bool_, kernel=f"{_name}_cpu", takes=ALL),
        doc=f"The {_name.replace('_', ' ')} of two elements, of which 0 is false.",
    )


# -- bits of whole numbers, and of bools


#: The functions of bits by the names of their operators.
BITS = {
    "and": Pointwise(np.bitwise_and, BITWISE, kernel="bitwise_and_cpu", takes=BITWISE),
    "or": Pointwise(np.bitwise_or, BITWISE, kernel="bitwise_or_cpu", takes=BITWISE),
    "xor": Pointwise(np.bitwise_xor, BITWISE, kernel="bitwise_xor_cpu", takes=BITWISE),
    "lshift": Pointwise(formulas.left_shift, WHOLE, kernel="lshift_cpu", takes=WHOLE),
    "rshift": Pointwise(formulas.right_shift, WHOLE, kernel="rshift_cpu", takes=WHOLE),
}
_NAMES = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
for _name, _function in BITS.items():
    _name = _NAMES.get(_name, f"bitwise_{_name}")
    _doc = f"The function {_name} of the bits of two whole numbers, or of bools."
    binary(_name, _function, TENSORS, OF_NUMBER_ALONE, NUMBER, doc=_doc)
