"""One number as an element of a type; PyTorch raises an error where the type has no such number."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.dtypes import Category, dtype

__all__ = ["element_of"]


def element_of(value: Any, kind: dtype) -> Any:
    """A number of Python's as numpy's number of a type. Raises RuntimeError, ValueError.

    The fractions of floats are cut. Negative ints that an unsigned type's bits can hold wrap.
    """
    numpy = kind.numpy
    if isinstance(value, complex):
        value = _real(value, kind)
    if kind.category is Category.BOOL:
        return numpy.type(bool(value))
    if isinstance(value, int):
        return _of_int(int(value), kind)
    if kind.category is Category.FLOAT:
        return _of_float(value, kind)
    limits = np.iinfo(numpy)
    if not limits.min <= value <= limits.max:  # a nan neither
        raise _overflow(kind)
    return numpy.type(min(int(value), int(limits.max)))


def _of_int(value: int, kind: dtype) -> Any:
    if not -(1 << 63) <= value < 1 << 63:
        if kind.name != "uint64" or value < 0 or value >= 1 << 64:
            raise ValueError("Overflow when unpacking long long")
    if kind.category is Category.FLOAT:
        return _of_float(float(value), kind)
    limits = np.iinfo(kind.numpy)
    if kind.name == "uint64" and value < 0:
        raise OverflowError("can't convert negative int to unsigned")
    least = limits.min if kind.is_signed else -int(limits.max)
    if not least <= value <= limits.max:
        raise _overflow(kind)
    return kind.numpy.type(value if value >= limits.min else value + int(limits.max) + 1)


def _of_float(value: float, kind: dtype) -> Any:
    with np.errstate(over="ignore"):
        found = kind.numpy.type(value)
    if abs(value) > float(np.finfo(kind.numpy).max) and abs(value) != float("inf"):
        raise _overflow(kind)
    return found


def _real(value: complex, kind: dtype) -> Any:
    if value.imag and kind.category is not Category.BOOL:
        raise _overflow(kind)
    return value.real or value.imag


def _overflow(kind: dtype) -> RuntimeError:
    name = (
        kind.real if kind.category is Category.FLOAT or kind.name == "int32" else f"{kind.name}_t"
    )
    return RuntimeError(f"value cannot be converted to type {name} without overflow")
