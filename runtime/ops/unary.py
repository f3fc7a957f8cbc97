"""Manual, Math Functions: functions of each element of a tensor, or of a number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from runtime.calls.table import FLOATS, op
from runtime.core.dtypes import INT, LONG, Array, DType
from runtime.core.tensor import Tensor
from runtime.ops._operands import Compute, elementwise, resize_for


def _negative(t: Array, out: Array) -> None:
    # numpy's loop for types of 4 bytes reads wrong elements where they are 16 bytes apart.
    np.negative(t if t.flags.c_contiguous else t.copy(), out=out)


def compute_sigmoid(t: Array, out: Array) -> None:
    _negative(t, out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.reciprocal(out, out=out)


def _rsqrt(t: Array, out: Array) -> None:
    np.sqrt(t, out=out)
    np.reciprocal(out, out=out)


def _frac(t: Array, out: Array) -> None:
    np.subtract(t, np.trunc(t), out=out)


def _round(t: Array, out: Array) -> None:
    # As C's round, rounds .5 away from zero; numpy's rounds it to the even number.
    whole = np.trunc(t)
    away = np.abs(t - whole) >= 0.5
    np.add(whole, np.copysign(away, t), out=out)


#: The Lua formulas of functions that are no ufuncs.
_FORMULAS: dict[str, str] = {
    "frac": "t - trunc(t)",
    "neg": "-t",
    "round": "trunc(t) + copysign(floor(2 * fmax(absolute(t - trunc(t)), 0)), t)",
    "rsqrt": "reciprocal(sqrt(t))",
    "sigmoid": "reciprocal(exp(-t) + 1)",
}


def _add_function(name: str, compute: Compute, types: Iterable[DType], scalar: bool = True) -> None:
    formula = _FORMULAS.get(name) or f"{compute.__name__}(t)"

    def of_tensor(r: Tensor, t: Tensor) -> None:
        resize_for(r, t)
        elementwise(r, compute, t)

    def of_number(value: float) -> float:
        out = np.empty(1)
        compute(np.array([value], np.float64), out=out)
        return float(out[0])

    of_tensor.__doc__ = f"r = {name}(t), element by element."
    of_number.__doc__ = f"{name} of a number."
    op(name, "*T* [T=1]", "[*T*] T", types, each=formula)(of_tensor)
    if scalar:
        op(name, "real", "real", types)(of_number)


_FUNCTIONS: dict[str, Compute] = {
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "floor": np.floor,
    "frac": _frac,
    "log": np.log,
    "log1p": np.log1p,
    "round": _round,
    "rsqrt": _rsqrt,
    "sigmoid": compute_sigmoid,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
for _name, _compute in _FUNCTIONS.items():
    _add_function(_name, _compute, FLOATS)
_add_function("abs", np.absolute, (INT, LONG, *FLOATS))
_add_function("neg", _negative, FLOATS, scalar=False)
_add_function("cinv", np.reciprocal, FLOATS, scalar=False)


@op("sign", "*T* [T=1]", "[*T*] T", each="t > 0 and 1 or t < 0 and -1 or 0")
def sign(r: Tensor, t: Tensor) -> None:
    """r = the sign of each element: 1, 0 or -1; that of nan is 0."""

    def compute(t: Array, out: Array) -> None:
        np.subtract(t > 0, t < 0, out=out, dtype=np.int8, casting="unsafe")

    resize_for(r, t)
    elementwise(r, compute, t)
