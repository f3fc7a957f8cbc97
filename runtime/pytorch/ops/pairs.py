"""Functions of two operands, element by element; and how they are registered.

PyTorch's documentation: torch, Pointwise Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import NUMPY_DTYPES, bool_
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Operand, Out
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, FLOATS, WHOLE, Pointwise, comparison
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.tensors.tensor import Tensor

_TENSORS = "(Tensor input, Tensor other)"
_NUMBER = "(Tensor input, Number other)"


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
        schema = row if "|" in row else f"{row[:-1]}, *, {OUT})"
        compute = _of_two(function)
        compute.__doc__ = doc
        takes_method = method if rest.startswith("Tensor") else False
        op(
            schema.replace("|", ""),
            in_place=in_place and rest.startswith("Tensor"),
            numbers=numbers,
            method=takes_method,
        )(compute)


def _of_two(function: Pointwise) -> Callable[..., Any]:
    def compute(first: Any, second: Any, *, out: Out = None) -> Any:
        return function(first, second, out)

    return compute


def _register(
    names: str, function: Pointwise, *, number: bool = False, in_place: bool = True, doc: str = ""
) -> None:
    for name in names.split():
        rows = [f"{name}{_TENSORS}", f"{name}{_NUMBER}"]
        doc = doc or f"The function {name} of two elements."
        binary(function, *rows[: 2 if number else 1], doc=doc, in_place=in_place)


def _of_floats(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, FLOATS, kernel=f"{name}_cpu", takes=FLOATS)


def _of_whole(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, WHOLE, kernel=f"{name}_cpu", takes=WHOLE)


_NAN = "The {} of two elements; nan where one is."
_OTHER = "The {} of two elements; the other one where one is nan."
_register("maximum", Pointwise(np.maximum), in_place=False, doc=_NAN.format("maximum"))
_register("minimum", Pointwise(np.minimum), in_place=False, doc=_NAN.format("minimum"))
_register("fmax", Pointwise(np.fmax), in_place=False, doc=_OTHER.format("maximum"))
_register("fmin", Pointwise(np.fmin), in_place=False, doc=_OTHER.format("minimum"))
_register("atan2 arctan2", Pointwise(np.arctan2, FLOATS, rule=to_float))
_register("copysign", Pointwise(np.copysign, FLOATS, rule=to_float), number=True)
_register("hypot", _of_floats("hypot", np.hypot))
_register("nextafter", _of_floats("nextafter", np.nextafter))
_register("logaddexp", _of_floats("logaddexp", np.logaddexp), in_place=False)
_register("logaddexp2", _of_floats("logaddexp2", np.logaddexp2), in_place=False)
_register("gcd", _of_whole("gcd", np.gcd))
_register("lcm", _of_whole("lcm", formulas.lcm))


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


_STORED = frozenset(kind.num for kind in NUMPY_DTYPES)

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
    name: comparison(ufunc, f"{name}_cpu", _STORED if name in ("eq", "ne") else ALL)
    for name, (_, ufunc) in _UFUNCS.items()
}
for _short, (_long, _) in _UFUNCS.items():
    for _name in {_short, _long} - {"equal"}:
        binary(
            COMPARISONS[_short],
            f"{_name}(Tensor input, Tensor other)",
            f"{_name}(Tensor input, Number other)",
            doc=f"Whether {_long.replace('_', ' ')} is true of each pair of elements.",
        )


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


_TOLERANCES = "float rtol = 1e-05, float atol = 1e-08, bool equal_nan = False"


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

for _name, _ufunc in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
):
    binary(
        Pointwise(_ufunc, result=bool_, kernel=f"{_name}_cpu", takes=ALL),
        f"{_name}(Tensor input, Tensor other)",
        doc=f"The {_name.replace('_', ' ')} of two elements, of which 0 is false.",
    )


# -- bits of whole numbers, and of bools


_BITS = frozenset(kind.num for kind in NUMPY_DTYPES if kind.kind != "f")


def _bits(name: str, function: Pointwise) -> None:
    binary(
        function,
        f"{name}(Tensor input, Tensor other)",
        f"{name}(Number self, Tensor other|)",
        f"{name}(Tensor input, Number other)",
        doc=f"The function {name} of the bits of two whole numbers, or of bools.",
    )


#: The functions of bits by the names of their operators.
BITS = {
    "and": Pointwise(np.bitwise_and, _BITS, kernel="bitwise_and_cpu", takes=_BITS),
    "or": Pointwise(np.bitwise_or, _BITS, kernel="bitwise_or_cpu", takes=_BITS),
    "xor": Pointwise(np.bitwise_xor, _BITS, kernel="bitwise_xor_cpu", takes=_BITS),
    "lshift": Pointwise(formulas.left_shift, WHOLE, kernel="lshift_cpu", takes=WHOLE),
    "rshift": Pointwise(formulas.right_shift, WHOLE, kernel="rshift_cpu", takes=WHOLE),
}
_NAMES = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
for _name, _function in BITS.items():
    _bits(_NAMES.get(_name, f"bitwise_{_name}"), _function)
