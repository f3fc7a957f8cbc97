"""Functions of arrays that numpy lacks, or computes in another way than PyTorch.

Arrays have one type, or are numbers of numpy's in it; the values have it, too. Division by a whole
number 0 is an error here, and the sign of zeros and nans is PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.compute.reductions import FEW

Values = Any  # an array, or a number of numpy's

#: numpy's function behind np.clip, of arrays and two bounds. With numbers as bounds it needs a
#: quarter of the time of maximum and minimum, and keeps the sign of zeros, as PyTorch does.
clip: np.ufunc = import_module("numpy._core.umath").clip


def _check_divisor(a: Values, b: Values) -> None:
    if b.dtype.kind in "iu" and not np.all(b) and a.size:
        raise RuntimeError("ZeroDivisionError")


def dividing(ufunc: Callable[..., Values]) -> Callable[[Values, Values], Values]:
    """Return a division of whole numbers that raises RuntimeError for a divisor 0."""

    def compute(a: Values, b: Values) -> Values:
        _check_divisor(a, b)
        return ufunc(a, b)

    return compute


def divide_trunc(a: Values, b: Values) -> Values:
    """Return the quotient rounded towards zero."""
    _check_divisor(a, b)
    if a.dtype.kind == "f":
        return np.trunc(np.true_divide(a, b))
    quotient = np.floor_divide(a, b)
    if a.dtype.kind == "u":
        return quotient
    is_low = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return quotient + is_low.astype(quotient.dtype)


def remainder(a: Values, b: Values) -> Values:
    """Return the remainder of a division that rounds down: with b's sign, of zeros with a's."""
    left = np.fmod(a, b)
    if not b.ndim and left.ndim:
        return np.add(left, b, out=left, where=left > 0 if b < 0 else left < 0)
    return np.where((left != 0) & ((b < 0) != (left < 0)), left + b, left)


def power(a: Values, b: Values) -> Values:
    """Return a to the power of b; whole numbers to negative powers are cut to whole ones."""
    if a.dtype.kind == "f" and b.size == 1:
        # For a single exponent numpy takes roots and products, with other signs of zeros.
        b = np.full(np.broadcast_shapes(a.shape, b.shape), b, b.dtype)
    if a.dtype.kind != "i" or not np.any(b < 0):
        return np.power(a, b)
    powers = np.power(a, np.maximum(b, 0))
    odd = np.where(b % 2, a, a * a)
    return np.where(b >= 0, powers, np.where(np.abs(a) == 1, odd, np.zeros_like(powers)))


def power_by(a: Array, exponent: float) -> Values:
    """Return a to the power of a number: a product or root where PyTorch takes that."""
    if a.dtype.kind != "f":
        return np.power(a, a.dtype.type(exponent))
    simple = _POWERS.get(exponent)
    return np.power(a, a.dtype.type(exponent)) if simple is None else simple(a)


_POWERS: dict[float, Callable[[Values], Values]] = {
    0.5: np.sqrt,
    2.0: np.square,
    3.0: lambda a: a * a * a,
    -0.5: lambda a: 1 / np.sqrt(a),
    -1.0: lambda a: 1 / a,
    -2.0: lambda a: 1 / (a * a),
}


def lcm(a: Values, b: Values) -> Values:
    """Return the least common multiple."""
    return np.abs(np.lcm(a, b))


def left_shift(a: Values, b: Values) -> Values:
    """Return bits shifted to the left: 0 for more than there are, and for negative b."""
    return _shifted(np.left_shift, a, b)


def _shifted(ufunc: np.ufunc, a: Values, b: Values) -> Values:
    none, has_bits = a.dtype.type(0), (b >= 0) & (b < 8 * a.dtype.itemsize)
    return np.where(has_bits, ufunc(a, np.where(has_bits, b, none)), none)


def right_shift(a: Values, b: Values) -> Values:
    """Return bits shifted to the right; the sign remains where there are not so many."""
    if a.dtype.kind == "u":
        return _shifted(np.right_shift, a, b)
    end = a.dtype.type(8 * a.dtype.itemsize - 1)
    return np.right_shift(a, np.where((b >= 0) & (b <= end), b, end))


def sign(a: Values) -> Values:
    """Return -1, 0 or 1; 0 for nans, too."""
    return np.array(a) if a.dtype.kind == "b" else (a > 0).astype(a.dtype) - (a < 0).astype(a.dtype)


def frac(a: Values) -> Values:
    """Return the fraction of a number, with its sign."""
    return a - np.trunc(a)


def rsqrt(a: Values) -> Values:
    """Return one divided by the square root."""
    return 1 / np.sqrt(a)


def sigmoid(a: Values) -> Values:
    """Return 1 / (1 + exp(-a))."""
    if not a.ndim:
        return 1 / (1 + np.exp(-a))
    result = np.negative(a)
    np.exp(result, out=result)
    np.add(result, result.dtype.type(1), out=result)
    return np.reciprocal(result, out=result)


def relu(a: Values) -> Values:
    """Return positive numbers and nans; 0 for the others, but -0 for -0."""
    return clip(a, 0, np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).max)


def sinc(a: Values) -> Values:
    """Return sin(pi a) / (pi a), and 1 at 0."""
    angle = a * a.dtype.type(math.pi)
    return np.where(a == 0, a.dtype.type(1), np.sin(angle) / angle)


def round_decimals(a: Values, decimals: int) -> Values:
    """Return numbers rounded to decimals behind the point, or before it; halves to even."""
    if not decimals:
        return np.rint(a)
    ten = a.dtype.type(np.float64(10) ** abs(float(decimals)))
    return np.rint(a * ten) / ten if decimals > 0 else np.rint(a / ten) * ten


def lerp(a: Values, b: Values, weight: Values) -> Values:
    """Return a + weight * (b - a), computed from the nearer end."""
    span = b - a
    if weight.ndim:
        return np.where(np.abs(weight) < 0.5, a + weight * span, b - span * (1 - weight))
    return a + weight * span if abs(weight) < 0.5 else b - span * (1 - weight)


def isclose(a: Values, b: Values, rtol: float, atol: float, equal_nan: bool) -> Values:
    """Tell whether |a - b| <= atol + |rtol * b|, or both are the same."""
    close = a == b
    if a.dtype.kind == "f" and equal_nan:
        close = close | (np.isnan(a) & np.isnan(b))
    if not (rtol or atol):
        return close
    if a.dtype.kind != "f":
        a, b = a.astype(np.float32), b.astype(np.float32)
    allowed = a.dtype.type(atol) + np.abs(a.dtype.type(rtol) * b)
    apart = np.abs(a - b)
    return close | (np.isfinite(apart) & (apart <= allowed))


# -- functions of float32 whose last digits are PyTorch's, where few elements are computed
#
# numpy's are off by up to two units in the last place, PyTorch's hardly ever by one: printed
# numbers of seven digits show that. So few elements are computed in float64, and rounded once. Of
# many elements numpy's functions are taken as they are, several times as fast.

_DOUBLE, _FLOAT = np.dtype(np.float64), np.dtype(np.float32)


def _precise(function: np.ufunc) -> Callable[[Values], Values]:
    """Return a function whose values of few elements of float32 are rounded once."""

    def compute(a: Values) -> Values:
        if a.dtype is not _FLOAT or a.size > FEW:
            return function(a)
        return function(a.astype(_DOUBLE)).astype(_FLOAT)

    return compute


_ROUNDED_ONCE = (
    "arccos arcsin arctan cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh tan tanh"
)
#: Functions for few elements, by numpy's functions for many.
EXACT: dict[Any, Callable[[Values], Values]] = {
    f: _precise(f) for f in (getattr(np, name) for name in _ROUNDED_ONCE.split())
}
