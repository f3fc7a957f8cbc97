"""Manual, Math Functions: functions of each element of a tensor, or of a number."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.table import FLOATS
from th_shell.runtime.compute.step_arrays import compute_by_steps
from th_shell.runtime.core.dtypes import INT, LONG, Array
from th_shell.runtime.ops._by_formula import Forms, each, of_numbers

_FORMS = Forms("*T* [T=1]", "[*T*] T", "t")

#: Formulas by names; the other functions are called as numpy calls them.
_FORMULAS: dict[str, str] = {
    "abs": "absolute(t)",
    "acos": "arccos(t)",
    "asin": "arcsin(t)",
    "atan": "arctan(t)",
    "cinv": "reciprocal(t)",
    "frac": "t - trunc(t)",
    "neg": "-t",
    # As C's round, rounds .5 away from zero; numpy's rounds it to the even number.
    "round": "trunc(t) + copysign(floor(2 * fmax(absolute(t - trunc(t)), 0)), t)",
    "rsqrt": "reciprocal(sqrt(t))",
    "sigmoid": "reciprocal(exp(-t) + 1)",
}
_OF_NUMBERS = (
    "acos asin atan ceil cos cosh exp floor frac log log1p round rsqrt sigmoid sin sinh sqrt tan "
    "tanh trunc abs"
)
for _name in (*_OF_NUMBERS.split(), "neg", "cinv"):
    _formula = _FORMULAS.get(_name, f"{_name}(t)")
    _types = (INT, LONG, *FLOATS) if _name == "abs" else FLOATS
    each(_name, _FORMS, _formula, f"{_name}(t)", types=_types)
    if _name in _OF_NUMBERS.split():
        of_numbers(_name, _formula, "t", f"{_name} of a number", types=_types)
_SIGN = "(t > 0 and 1 or 0) - (t < 0 and 1 or 0)"
each("sign", _FORMS, _SIGN, "the sign of t: 1, 0 or -1; that of nan is 0")


def compute_sigmoid(t: Array, out: Array) -> None:
    """out = the sigmoid of each element."""
    compute_by_steps(_FORMULAS["sigmoid"], ("t",), {}, np.dtype(t.dtype))(t, out=out)
