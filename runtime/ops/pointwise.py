"""Manual, Math Functions, Basic operations: arithmetic, element by element.

r gets the sizes of t; further operands have as many elements. Integer types compute as C does:
they wrap, and quotients are truncated towards zero. A whole number divided by 0 raises TorchError.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.calls.table import FLOATS, op
from runtime.compute.bulk import add_multiple
from runtime.compute.thread_pool import LARGE
from runtime.core.dtypes import Array, DType, cast, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor
from runtime.ops._operands import Compute, check_counts, elementwise, partly_shared, resize_for

# Each is a form as a method and as a function.
_WITH_NUMBER = "*T* [T=1] real", "[*T*] T real"
_WITH_TENSOR = "*T* [T=1] T", "[*T*] T T"
_SCALED = "*T* [T=1] [real=1] T", "[*T*] T [real=1] T"
_WITH_TWO = "*T* [T=1] [real=1] T T", "[*T*] T [real=1] T T"


def with_number(r: Tensor, compute: Compute, t: Tensor, value: float) -> None:
    """r = compute(t, value), element by element."""
    resize_for(r, t)
    elementwise(r, compute, t, value)


def with_tensor(
    r: Tensor,
    compute: Compute,
    t: Tensor,
    src: Tensor,
    names: tuple[str, str, str] = ("r_", "t", "src"),
) -> None:
    """r = compute(t, src), element by element.

    names: those of r, t and src in the error about different numbers of elements.
    """
    if t.sizes != src.sizes and t.nelement != src.nelement:
        check_counts(**dict(zip(names, (t, t, src), strict=True)))
    resize_for(r, t, src)
    elementwise(r, compute, t, src)


# -- sums and products


@op("add", *_WITH_NUMBER, each="t + value")
def add(r: Tensor, t: Tensor, value: float) -> None:
    """r = t + value."""
    with_number(r, np.add, t, value)


@op("add", *_SCALED, each="t + value * src", axpy=True)
def cadd(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
    """r = t + value * src.

    Torch7: BLAS's axpy computes that in place, which does nothing where the factor is 0.
    """
    if value == 1:
        with_tensor(r, np.add, t, src)
        return
    is_axpy = r is t and _is_axpy(r, src)
    if is_axpy and (value == 0 or (_is_quick(r, src) and add_multiple(r.flat, value, src.flat))):
        return
    with_tensor(r, _scaled_sum(value), t, src)


def _is_axpy(r: Tensor, src: Tensor) -> bool:
    """Whether the reference computes r += value * src by BLAS."""
    is_flat = r.is_contiguous and src.is_contiguous
    return r.dtype.is_float and r.nelement == src.nelement and is_flat


def _is_quick(r: Tensor, src: Tensor) -> bool:
    """Whether axpy can compute it here, and is faster than two passes of numpy."""
    return r.nelement >= LARGE and not partly_shared(r.array, [src.array])


def _scaled_sum(value: float) -> Compute:
    def compute(t: Array, src: Array, out: Array) -> None:
        np.add(t, np.multiply(src, value), out=out)

    return compute


def _negative(value: float, dtype: DType) -> float:
    # The float of a whole number has a negative zero, too.
    return cast_scalar(-float(value) if dtype.is_float else -value, dtype)


@op("csub", *_WITH_NUMBER, each="t - value")
def sub(r: Tensor, t: Tensor, value: float) -> None:
    """r = t - value."""
    add(r, t, _negative(value, t.dtype))


@op("csub", *_SCALED, each="t - value * src", axpy=True)
def csub(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
    """r = t - value * src."""
    if value == 1:
        with_tensor(r, np.subtract, t, src)
    else:
        cadd(r, t, _negative(value, t.dtype), src)


@op("mul", *_WITH_NUMBER, each="t * value")
def mul(r: Tensor, t: Tensor, value: float) -> None:
    """r = t * value."""
    with_number(r, np.multiply, t, value)


@op("cmul", *_WITH_TENSOR, each="t * src")
def cmul(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = t * src, element by element."""
    with_tensor(r, np.multiply, t, src)


@op("addcmul", *_WITH_TWO, each="t + value * src1 * src2")
def addcmul(r: Tensor, t: Tensor, value: float, src1: Tensor, src2: Tensor) -> None:
    """r = t + value * src1 * src2, element by element."""

    def compute(t: Array, a: Array, b: Array, out: Array) -> None:
        product = a * b if value == 1 else np.multiply(a, value) * b
        np.add(t, product, out=out)

    _with_two(r, compute, t, src1, src2)


@op("addcdiv", *_WITH_TWO, each="t + value * src1 / src2")
def addcdiv(r: Tensor, t: Tensor, value: float, src1: Tensor, src2: Tensor) -> None:
    """r = t + value * src1 / src2, element by element."""
    divide = _division(t.dtype, src2)

    def compute(t: Array, a: Array, b: Array, out: Array) -> None:
        wide = a if t.dtype.kind == "f" or t.dtype == np.int64 else a.astype(np.int32)
        quotient = np.empty(wide.shape, wide.dtype)
        divide(wide * value, b, out=quotient)
        np.add(t, quotient.astype(t.dtype, copy=False), out=out)

    _with_two(r, compute, t, src1, src2)


def _with_two(r: Tensor, compute: Compute, t: Tensor, src1: Tensor, src2: Tensor) -> None:
    check_counts(r_=t, src1=src1, src2=src2)
    resize_for(r, t, src1, src2)
    elementwise(r, compute, t, src1, src2)


# -- quotients


def _division(dtype: DType, divisor: Tensor | float) -> Compute:
    """A function that divides elements of a type as C does; raises as `check_divisor`."""
    if dtype.is_float:
        return np.divide
    check_divisor(divisor)
    return truncated_quotient


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


@op("div", *_WITH_NUMBER, each="t / value")
def div(r: Tensor, t: Tensor, value: float) -> None:
    """r = t / value."""
    with_number(r, _division(t.dtype, value), t, value)


@op("cdiv", *_WITH_TENSOR, each="t / src")
def cdiv(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = t / src, element by element."""
    with_tensor(r, _division(t.dtype, src), t, src)


def _remainder(values: Array, divisor: Array | float, out: Array) -> None:
    # Torch7: t - d * floor(t / d), whose rounding errors numpy's exact remainder does not have.
    # The quotient is computed in the element type, the rest in double precision.
    undefined = np.broadcast_to(np.equal(divisor, 0), out.shape)
    product = np.multiply(divisor, np.floor(values / divisor), dtype=np.float64)
    np.subtract(values, product, out=out, dtype=np.float64, casting="same_kind")
    out[undefined] = np.nan


_REMAINDER = "double(t) - double({0}) * double(floor(t / {0}))"


def _modulo(
    dtype: DType, divisor: Tensor | float, for_floats: Compute, for_whole: Compute
) -> Compute:
    if dtype.is_float:
        return for_floats
    check_divisor(divisor)
    return for_whole


@op("remainder", *_WITH_NUMBER, each=f"{_REMAINDER.format('value')} if value != 0 else None")
def remainder(r: Tensor, t: Tensor, value: float) -> None:
    """r = the remainder of t / value with the sign of value."""
    with_number(r, _modulo(t.dtype, value, _remainder, np.remainder), t, value)


# With the divisor 0 it is the nan without a sign, as in the reference.
_OR_NAN = f"src == 0 and abs(src / src) or cast({_REMAINDER.format('src')})"


@op("cremainder", *_WITH_TENSOR, each=_OR_NAN)
def cremainder(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = the remainder of t / src with the sign of src, element by element."""
    with_tensor(r, _modulo(t.dtype, src, _remainder, np.remainder), t, src)


@op("mod", *_WITH_NUMBER, each="fmod(t, value)")
@op("fmod", *_WITH_NUMBER, each="fmod(t, value)")
def fmod(r: Tensor, t: Tensor, value: float) -> None:
    """r = the remainder of t / value with the sign of t."""
    with_number(r, _modulo(t.dtype, value, np.fmod, np.fmod), t, value)


@op("cmod", *_WITH_TENSOR, each="fmod(t, src)")
@op("cfmod", *_WITH_TENSOR, each="fmod(t, src)")
def cfmod(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = the remainder of t / src with the sign of t, element by element."""
    with_tensor(r, _modulo(t.dtype, src, np.fmod, np.fmod), t, src)


# -- powers


def _power(dtype: DType) -> Compute:
    if dtype.is_float:
        return np.power

    def compute(base: Array | float, exponent: Array | float, out: Array) -> None:
        # Torch7: the power of whole numbers is computed as a double, too, and truncated.
        power = np.power(np.asarray(base, np.float64), np.asarray(exponent, np.float64))
        out[...] = cast(power, dtype)

    return compute


def _cube(t: Array, out: Array) -> None:
    np.multiply(t * t, t, out=out)


def _inverse_square(t: Array, out: Array) -> None:
    np.reciprocal(t * t, out=out)


def _inverse_root(t: Array, out: Array) -> None:
    np.reciprocal(np.sqrt(t), out=out)


_POWERS: dict[float, Compute] = {
    1: np.positive,
    2: np.square,
    3: _cube,
    0.5: np.sqrt,
    -0.5: _inverse_root,
    -1: np.reciprocal,
    -2: _inverse_square,
}


# As `_POWERS`.
_POWER = """
t if value == 1 else t * t if value == 2 else t * t * t if value == 3
else sqrt(t) if value == 0.5 else reciprocal(sqrt(t)) if value == -0.5
else reciprocal(t) if value == -1 else reciprocal(t * t) if value == -2 else power(t, value)
""".replace("\n", " ").strip()


@op("pow", "*T* [T=1] real", "[*T*] T real", types=FLOATS, each=_POWER)
def pow_number(r: Tensor, t: Tensor, value: float) -> None:
    """r = t to the power of a number."""
    resize_for(r, t)
    if value in _POWERS:
        elementwise(r, _POWERS[value], t)
    else:
        elementwise(r, np.power, t, value)


@op("pow", "*T* real [T=1]", "[*T*] real T", types=FLOATS, each="power(value, t)")
def number_pow(r: Tensor, value: float, t: Tensor) -> None:
    """r = a number to the power of t."""
    resize_for(r, t)
    elementwise(r, np.power, r.dtype.numpy.type(value), t)


@op("pow", method="real real", function="real real", types=FLOATS)
def pow_numbers(base: float, exponent: float) -> float:
    """A number to the power of another."""
    return float(np.power(np.float64(base), exponent))


@op("cpow", *_WITH_TENSOR, each="power(t, src)")
def cpow(r: Tensor, t: Tensor, src: Tensor) -> None:
    """r = t to the power of src, element by element."""
    with_tensor(r, _power(t.dtype), t, src)


# -- bounds


def _keep(compare: Callable[..., Array]) -> Compute:
    def compute(t: Array, src: Array | float, out: Array) -> None:
        # Torch7: `t > src ? t : src`, which is src where one of them is nan.
        out[...] = np.where(compare(t, src), t, src)

    return compute


def _add_bound(name: str, compare: Callable[..., Array], word: str, sign: str) -> None:
    compute = _keep(compare)

    def tensor(r: Tensor, t: Tensor, src: Tensor) -> None:
        with_tensor(r, compute, t, src, names=("r", "t", "src"))

    def number(r: Tensor, t: Tensor, value: float) -> None:
        with_number(r, compute, t, value)

    tensor.__doc__ = f"r = the {word} of t and src, element by element."
    number.__doc__ = f"r = the {word} of t and a number, element by element."
    op(name, "[*T*] [T=1] T", "[*T*] T T", each=f"t {sign} src and t or src")(tensor)
    op(name, "[*T*] [T=1] real", "[*T*] T real", each=f"t {sign} value and t or value")(number)


_add_bound("cmax", np.greater, "larger", ">")
_add_bound("cmin", np.less, "smaller", "<")


# Of two zeros, maximum and minimum may give either.
_CLAMPED = (
    "minimum(maximum(t, low), high) if low <= high and low ~= 0 and high ~= 0 "
    "else t < low and low or t > high and high or t"
)


@op("clamp", "*T* [T=1] real real", "[*T*] T real real", each=_CLAMPED)
def clamp(r: Tensor, t: Tensor, low: float, high: float) -> None:
    """r = t, but at least low and at most high; nan remains nan."""

    def compute(t: Array, out: Array) -> None:
        if t.dtype.kind == "f" and low <= high and low != 0 and high != 0:
            np.minimum(np.maximum(t, low, out=out), high, out=out)
            return
        bounded = np.where(t > high, t.dtype.type(high), t)
        out[...] = np.where(t < low, t.dtype.type(low), bounded)

    resize_for(r, t)
    elementwise(r, compute, t)


@op("lerp", "*T* [T=1] T real", "[*T*] T T real", types=FLOATS, each="a + (b - a) * weight")
def lerp(r: Tensor, a: Tensor, b: Tensor, weight: float) -> None:
    """r = a + weight * (b - a), element by element."""
    if a.nelement != b.nelement:
        raise ArgError(2, "sizes do not match")

    def compute(a: Array, b: Array, out: Array) -> None:
        np.add(a, np.multiply(b - a, weight), out=out)

    with_tensor(r, compute, a, b)


@op("lerp", method="real real real", function="real real real", types=FLOATS)
def lerp_numbers(a: float, b: float, weight: float) -> float:
    """a + weight * (b - a)."""
    return a + weight * (b - a)


@op("atan2", "*T* [T=1] T", "[*T*] T T", types=FLOATS, each="arctan2(y, x)")
def atan2(r: Tensor, y: Tensor, x: Tensor) -> None:
    """r = the angle of the point (x, y) in radians, element by element."""
    with_tensor(r, np.arctan2, y, x, names=("r_", "tx", "ty"))


@op("atan2", method="real real", function="real real", types=FLOATS)
def atan2_numbers(y: float, x: float) -> float:
    """The angle of the point (x, y) in radians."""
    return float(np.arctan2(np.float64(y), x))
