"""Functions of float32 whose last digits are PyTorch's, where few elements are computed.

numpy's own functions of float32 are off by up to two units in the last place, PyTorch's hardly ever
by one: printed numbers of seven digits show that. So few elements are computed in float64, and
rounded once. Of many elements numpy's functions are taken as they are, since they are several times
as fast. sinh and cosh are computed as the C library does, whose formulas round in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.compute.sums import FEW

Values = Any  # an array, or a number of numpy's

_SINGLE = np.dtype(np.float32).num
_HALF = np.float32(0.5)
_ONE = np.float32(1)
_LEAST_LARGE = 22.0  # from here on exp(-x) does not count
_LEAST_HUGE = 88.72283935546875  # from here on exp(x) is no float32


def _precise(function: np.ufunc) -> Callable[[Values], Values]:
    """A function whose values of few elements of float32 are rounded once."""

    def compute(a: Values) -> Values:
        if a.dtype.num != _SINGLE or a.size > FEW:
            return function(a)
        return function(a, dtype=np.float64).astype(np.float32)

    return compute


_exp, _expm1 = _precise(np.exp), _precise(np.expm1)


def _cosh(a: Values) -> Values:
    """The hyperbolic cosine."""
    if a.dtype.num != _SINGLE or a.size > FEW:
        return np.cosh(a)
    size = np.abs(a)
    power, less = _exp(size), _expm1(size)
    near_0 = _ONE + less * less / (_ONE + less + _ONE + less)
    found = np.where(size < np.float32(0.34657359), near_0, _HALF * power + _HALF / power)
    return _with_large(found, size, _HALF)


def _sinh(a: Values) -> Values:
    """The hyperbolic sine."""
    if a.dtype.num != _SINGLE or a.size > FEW:
        return np.sinh(a)
    size, half = np.abs(a), np.copysign(_HALF, a)
    less = _expm1(size)
    near_0 = half * (np.float32(2) * less - less * less / (less + _ONE))
    found = np.where(size < 1, near_0, half * (less + less / (less + _ONE)))
    return _with_large(np.where(size < np.float32(2**-28), a, found), size, half)


def _with_large(found: Array, size: Values, half: Values) -> Array:
    """The values, with those of large elements, of which one exponential alone counts."""
    if not np.any(size >= _LEAST_LARGE):
        return found
    root = _exp(_HALF * size)
    found = np.where(size >= _LEAST_LARGE, half * _exp(size), found)
    return np.where(size >= _LEAST_HUGE, half * root * root, found)


_ROUNDED_ONCE = (
    np.arccos,
    np.arcsin,
    np.arctan,
    np.cos,
    np.exp,
    np.exp2,
    np.expm1,
    np.log,
    np.log10,
    np.log1p,
    np.log2,
    np.sin,
    np.tan,
    np.tanh,
)
#: What computes few elements, by numpy's function for many.
EXACT: dict[Any, Callable[[Values], Values]] = {f: _precise(f) for f in _ROUNDED_ONCE}
EXACT |= {np.cosh: _cosh, np.sinh: _sinh}
