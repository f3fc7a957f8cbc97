"""Manual, Math Functions, Basic operations: arithmetic, element by element.

r gets the sizes of t; further operands have as many elements. Integer types compute as C does:
they wrap, and quotients are truncated towards zero. A whole number divided by 0 raises TorchError.

Functions of one element, comparisons and operations on bits follow. A comparison's result is a
ByteTensor of 1 for true and 0 for false, or a given destination of any element type. Shifts
multiply or divide elements of floating-point types by a power of two; other operations on bits
raise TorchError for these types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op
from th_shell.runtime.compute.bulk import add_multiple
from th_shell.runtime.compute.formula_arrays import compute_by_steps
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import BYTE, INT, LONG, Array, DType, cast
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._by_formula import Choose, Forms, Formula, each, of_numbers
from th_shell.runtime.ops._operands import Compute, compute_each, copy_if_shared

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


_SIGNS = {"lt": "<", "gt": ">", "le": "<=", "ge": ">=", "eq": "==", "ne": "~="}
for _name, _sign in _SIGNS.items():
    for _names, _kinds in ("t value", "T real"), ("a b", "T T"):
        _formula = f" {_sign} ".join(_names.split()) + " and 1 or 0"
        for _destination in "[*ByteTensor*]", "*T*":
            _form = f"{_destination} {_kinds}"
            _forms = Forms(_form, _form, _names, told="r_ ta tb")
            each(_name, _forms, _formula)


@op("equal", "T T", "T T", small="reduce.equal")
def equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same sizes and equal elements; nan equals nothing."""
    return a.sizes == b.sizes and bool((a.array == b.array).all())


@op("all", "T", "T", types=(BYTE,), total="t", fold="minimum", holds=True)
def all_(t: Tensor) -> bool:
    """Tell whether no element is 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).all())


@op("any", "T", "T", types=(BYTE,), total="t", fold="maximum", holds=True)
def any_(t: Tensor) -> bool:
    """Tell whether some element is not 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).any())


def _not_empty(t: Tensor) -> Array:
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return t.array


def _shift_left(t: Array, places: Array | float, out: Array) -> None:
    np.left_shift(t, places, out=out)


def _shift_right(t: Array, places: Array | float, out: Array) -> None:
    # Torch7: shifts the bits of the unsigned number of the same size.
    unsigned = np.dtype(f"u{t.dtype.itemsize}")
    shifted = np.right_shift(t.view(unsigned), np.asarray(places).astype(unsigned))
    out[...] = shifted.view(t.dtype)


def _scale_up(t: Array, places: Array | float, out: Array) -> None:
    np.multiply(t, np.exp2(np.asarray(places, t.dtype)), out=out)


def _scale_down(t: Array, places: Array | float, out: Array) -> None:
    np.divide(t, np.exp2(np.asarray(places, t.dtype)), out=out)


def _for_whole_numbers(name: str, ufunc: Any) -> Any:
    def choose(dtype: DType) -> Compute:
        if dtype.is_float:
            raise TorchError(f"{name} is only supported for integer type tensors")
        return ufunc  # type: ignore[no-any-return]

    return choose


def _add_operation(name: str, choose_with_number: Any, choose_with_tensor: Any) -> None:
    """Add the rows of an operation with a number, and with a tensor under the name c + name.

    Both other parameters give the function that computes the operation for an element type.
    """

    def number(r: Tensor, t: Tensor, value: float) -> None:
        compute_each(r, choose_with_number(t.dtype), t, value)

    def tensor(r: Tensor, t: Tensor, src: Tensor) -> None:
        compute_each(r, choose_with_tensor(t.dtype), t, src)

    number.__doc__ = f"r = {name} of t and a number."
    tensor.__doc__ = f"r = {name} of t and src, element by element."
    op(name, method="*T* [T=1] real", function="[*T*] T real")(number)
    op(f"c{name}", method="*T* [T=1] T", function="[*T*] T T")(tensor)


def _choose_left(dtype: DType) -> Compute:
    return _scale_up if dtype.is_float else _shift_left


def _choose_right(dtype: DType) -> Compute:
    return _scale_down if dtype.is_float else _shift_right


_add_operation("lshift", _choose_left, _choose_left)
_add_operation("rshift", _choose_right, _choose_right)
for _name, _ufunc in (
    ("bitand", np.bitwise_and),
    ("bitor", np.bitwise_or),
    ("bitxor", np.bitwise_xor),
):
    _add_operation(
        _name, _for_whole_numbers(_name, _ufunc), _for_whole_numbers(f"c{_name}", _ufunc)
    )
