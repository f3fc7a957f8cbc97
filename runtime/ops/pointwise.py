"""Manual, Math Functions, Basic operations: arithmetic, element by element.

r gets the sizes of t; further operands have as many elements. Integer types compute as C does:
they wrap, and quotients are truncated towards zero. A whole number divided by 0 raises TorchError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op
from th_shell.runtime.compute.bulk import add_multiple
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array, DType, cast
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._by_formula import Choose, Forms, Formula, each, of_numbers
from th_shell.runtime.ops._operands import Compute, copy_if_shared

_WITH_NUMBER = Forms("*T* [T=1] real", "[*T*] T real", "t value")
_WITH_TENSOR = Forms("*T* [T=1] T", "[*T*] T T", "t src")
_SCALED = Forms("*T* [T=1] [real=1] T", "[*T*] T [real=1] T", "t value src")
_WITH_TWO = Forms(
    "*T* [T=1] [real=1] T T", "[*T*] T [real=1] T T", "t value src1 src2", told="r_ src1 src2"
)

# -- sums and products

add = each("add", _WITH_NUMBER, "t + value")
sub = each("csub", _WITH_NUMBER, "t - value")
mul = each("mul", _WITH_NUMBER, "t * value")
each("cmul", _WITH_TENSOR, "t * src")


def _add_scaled(name: str, sign: str) -> Callable[..., None]:
    text = f"t {sign} value * src"
    formula = Formula(text, _SCALED)

    @op(name, _SCALED.method, _SCALED.function, each=text, axpy=True)
    def implementation(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
        if not _add_by_axpy(r, t, value, -value if sign == "-" else value, src):
            formula.compute(r, t, value, src)

    implementation.__doc__ = f"r = {text}, element by element."
    return implementation


def _add_by_axpy(r: Tensor, t: Tensor, value: float, factor: float, src: Tensor) -> bool:
    """Add factor * src to r by BLAS's axpy, where that is quick; whether it is done.

    Torch7: axpy computes that in place, which does nothing where the factor is 0.
    """
    is_flat = r.is_contiguous and src.is_contiguous
    if value == 1 or r is not t or not (is_flat and r.dtype.is_float):
        return False
    if r.nelement != src.nelement:
        return False
    if value == 0:
        return True
    if r.nelement < LARGE:
        return False
    out = r.flat
    return add_multiple(out, factor, copy_if_shared(src.flat, out))


cadd, csub = _add_scaled("add", "+"), _add_scaled("csub", "-")
each("addcmul", _WITH_TWO, "t + value * src1 * src2")


def _whole_addcdiv(dtype: DType, _t: Any, value: Any, _src1: Any, src2: Any) -> Compute | None:
    if dtype.is_float:
        return None
    check_divisor(src2)
    wide = np.int64 if dtype.numpy == np.int64 else np.int32

    def compute(t: Array, value: float, a: Array, b: Array, out: Array) -> None:
        quotient = np.empty(a.shape, wide)
        truncated_quotient(np.multiply(a.astype(wide, copy=False), value), b, out=quotient)
        np.add(t, quotient.astype(t.dtype, copy=False), out=out)

    return compute


each("addcdiv", _WITH_TWO, "t + value * src1 / src2", choose=_whole_addcdiv)

# -- quotients


def check_divisor(divisor: Tensor | float) -> None:
    """Raise TorchError where a whole number, or an element of a tensor of them, is 0.

    Torch7: the division ends the process with SIGFPE.
    """
    zero = not divisor.array.all() if isinstance(divisor, Tensor) else divisor == 0
    if zero:
        raise TorchError("division by zero")


def truncated_quotient(values: Array, divisor: Array | float, out: Array) -> None:
    """out = values / divisor of whole numbers, truncated towards zero."""
    quotient = np.floor_divide(values, divisor)
    is_below = (quotient < 0) & (np.remainder(values, divisor) != 0)  # by 1: the floor, not trunc
    np.add(quotient, is_below, out=out, casting="unsafe")


def _whole(compute: Compute) -> Choose:
    """A choice of this function for whole numbers, of which the last operand must not be 0."""

    def choose(dtype: DType, *operands: Tensor | float) -> Compute | None:
        if dtype.is_float:
            return None
        check_divisor(operands[-1])
        return compute

    return choose


div = each("div", _WITH_NUMBER, "t / value", choose=_whole(truncated_quotient))
each("cdiv", _WITH_TENSOR, "t / src", choose=_whole(truncated_quotient))

# Torch7: t - d * floor(t / d), whose rounding errors numpy's exact remainder does not have. The
# quotient is computed in the element type, the rest in double precision. With the divisor 0 it is
# the nan without a sign.
_REMAINDER = "cast(double(t) - double({0}) * double(floor(t / {0})))"
_BY_NUMBER = f"{_REMAINDER.format('value')} if value != 0 else absolute(t * 0 / value)"
_BY_TENSOR = f"src == 0 and absolute(src / src) or {_REMAINDER.format('src')}"
_DOC = "the remainder of t / {} with the sign of {}"
_OF_NUMBER, _OF_TENSOR = _DOC.format("value", "value"), _DOC.format("src", "src")
remainder = each("remainder", _WITH_NUMBER, _BY_NUMBER, _OF_NUMBER, choose=_whole(np.remainder))
each("cremainder", _WITH_TENSOR, _BY_TENSOR, _OF_TENSOR, choose=_whole(np.remainder))
for _name in "mod", "fmod":
    each(_name, _WITH_NUMBER, "fmod(t, value)", _DOC.format("value", "t"), choose=_whole(np.fmod))
    each(f"c{_name}", _WITH_TENSOR, "fmod(t, src)", _DOC.format("src", "t"), choose=_whole(np.fmod))

# -- powers

_POWER = """
t if value == 1 else t * t if value == 2 else t * t * t if value == 3
else sqrt(t) if value == 0.5 else reciprocal(sqrt(t)) if value == -0.5
else reciprocal(t) if value == -1 else reciprocal(t * t) if value == -2 else power(t, value)
""".replace("\n", " ").strip()
_OF_POWERS = Forms("*T* real [T=1]", "[*T*] real T", "value t")
each("pow", _WITH_NUMBER, _POWER, "t to the power of a number", types=FLOATS)
each("pow", _OF_POWERS, "power(value, t)", "a number to the power of t", types=FLOATS)
of_numbers("pow", "power(t, value)", "t value", "A number to the power of another")


def _whole_power(dtype: DType, *_: Any) -> Compute | None:
    def compute(base: Array, exponent: Array, out: Array) -> None:
        # Torch7: the power of whole numbers is computed as a double, too, and truncated.
        out[...] = cast(np.power(base.astype(np.float64), exponent.astype(np.float64)), dtype)

    return None if dtype.is_float else compute


each("cpow", _WITH_TENSOR, "power(t, src)", "t to the power of src", choose=_whole_power)

# -- bounds

_TO_TENSOR = Forms("[*T*] [T=1] T", "[*T*] T T", "t src", told="r t src")
_TO_NUMBER = Forms("[*T*] [T=1] real", "[*T*] T real", "t value")
for _name, _sign in ("cmax", ">"), ("cmin", "<"):
    # Torch7: it is src where one of them is nan.
    each(_name, _TO_TENSOR, f"t {_sign} src and t or src")
    each(_name, _TO_NUMBER, f"t {_sign} value and t or value")

# Of two zeros, maximum and minimum may give either. A nan remains nan.
_CLAMPED = (
    "minimum(maximum(t, low), high) if low <= high and low ~= 0 and high ~= 0 "
    "else t < low and low or t > high and high or t"
)
_BETWEEN = Forms("*T* [T=1] real real", "[*T*] T real real", "t low high")
each("clamp", _BETWEEN, _CLAMPED, "t, but at least low and at most high")

_LERP = "a + (b - a) * weight"
_OF_LERP = Forms("*T* [T=1] T real", "[*T*] T T real", "a b weight")
_lerp = Formula(_LERP, _OF_LERP)


@op("lerp", _OF_LERP.method, _OF_LERP.function, FLOATS, each=_LERP)
def lerp(r: Tensor, a: Tensor, b: Tensor, weight: float) -> None:
    """r = a + weight * (b - a), element by element."""
    if a.nelement != b.nelement:
        raise ArgError(2, "sizes do not match")
    _lerp.compute(r, a, b, weight)


of_numbers("lerp", _LERP, "a b weight")

_ANGLE = "the angle of the point (x, y) in radians"
_OF_POINT = Forms("*T* [T=1] T", "[*T*] T T", "y x", told="r_ tx ty")
each("atan2", _OF_POINT, "arctan2(y, x)", _ANGLE, types=FLOATS)
of_numbers("atan2", "arctan2(y, x)", "y x", f"{_ANGLE.capitalize()}")
