"""The ranges of random whole numbers that element types can hold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import NUMPY_DTYPES
from runtime.pytorch.base.warn import warn

_LEAST, _MOST = -(2**63), 2**63 - 1


def whole_range(kind: np.dtype[Any], first: int, stop: int | None) -> tuple[int, int] | None:
    """The first of the whole numbers below `stop` that a type can hold, and how many there are.

    stop: None for up to the greatest number that the type can hold. Returns None for all numbers of
    64 bits. Raises RuntimeError, ValueError and NotImplementedError in PyTorch's words.
    """
    for bound in (first, stop or 0):
        if not _LEAST <= bound <= _MOST:
            raise ValueError("Overflow when unpacking long long")
    if stop is None:
        return _open_range(kind, first)
    if first >= stop:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={first} >= to={stop}"
        )
    if kind.kind == "f":
        first, stop = _next_from(kind, first), _last_to(kind, stop)
        if first >= stop:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
                f"got from={first} >= to={stop}"
            )
    _check(kind, first, stop - 1)
    return first, stop - first


def _open_range(kind: np.dtype[Any], first: int) -> tuple[int, int] | None:
    if first == _LEAST:
        return None
    if kind.kind == "f":
        last, first = 1 << _digits(kind), _next_from(kind, first)
        if first >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={first} > to_inc={last}"
            )
    else:
        last = 1 if kind.kind == "b" else int(np.iinfo(kind).max)
    _check(kind, first, last)
    return first, last - first + 1


def check_full(kind: np.dtype[Any]) -> None:
    """Raise an error where a type is not filled with any numbers of 64 bits."""
    name = "random_full_64_bits_range_kernel_cpu"
    if kind.kind in "bu" and kind != np.uint8 or kind == np.float16:
        raise NotImplementedError(f"\"{name}\" not implemented for '{NUMPY_DTYPES[kind].scalar}'")
    if kind not in (np.int64, np.float32, np.float64):
        raise RuntimeError(f"{name} handles only int64, double, float and bfloat16")


def _check(kind: np.dtype[Any], first: int, last: int) -> None:
    """Check that a type holds the first and the last of some numbers."""
    least, most = _limits(kind)
    if kind.kind != "f" and least <= first <= last <= most:
        return
    real = NUMPY_DTYPES[kind].real
    bounds = (("from", first), ("to - 1", last))
    for name, bound in bounds:
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {real}")
    digits = _digits(kind)
    for name, bound in bounds:
        if abs(bound) > 1 << digits:
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {real} can support discrete uniform distribution only within this "
                "range. This warning will become an error in version 1.7 release, please fix the "
                "code in advance"
            )


@cache
def _limits(kind: np.dtype[Any]) -> tuple[float, float]:
    if kind.kind == "f":
        return float(np.finfo(kind).min), float(np.finfo(kind).max)
    if kind.kind == "b":
        return 0, 1
    # PyTorch: of uint64, only what int64 holds, too.
    return int(np.iinfo(kind).min), min(int(np.iinfo(kind).max), _MOST)


def _digits(kind: np.dtype[Any]) -> int:
    """How many bits a float's whole numbers have without a gap."""
    return int(np.finfo(kind).nmant) + 1


def _as_held(kind: np.dtype[Any], number: int) -> int | None:
    """A number as a type of floats holds it; None beyond its range."""
    with np.errstate(all="ignore"):
        held = float(kind.type(number))
    return int(held) if np.isfinite(held) else None


def _gap(kind: np.dtype[Any], number: int) -> int:
    """The distance from one float to the next about a number."""
    return 1 << max(abs(number).bit_length() - _digits(kind), 0)


def _next_from(kind: np.dtype[Any], first: int) -> int:
    """The first number, or where the type has no such float the next one that is not below."""
    held = _as_held(kind, first + 1)
    return held + _gap(kind, first + 1) if held is not None and held < first else first


def _last_to(kind: np.dtype[Any], stop: int) -> int:
    """The end, or where the type has no float just below it the one before."""
    held = _as_held(kind, stop - 1)
    return held - _gap(kind, stop - 1) if held is not None and held >= stop else stop
