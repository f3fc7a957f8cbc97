"""torch.finfo and torch.iinfo: the limits of the element types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from th_shell.torch.base.c_types import CType, type_name
from th_shell.torch.base.dtypes import bool_, default_dtype, dtype, dtype_of_python
from th_shell.torch.calls.messages import arguments_of
from th_shell.torch.calls.schema import Schema, parse

_FLOAT_FORMS = (parse("finfo(torch.dtype type)"), parse("finfo()"))
_INTEGER_FORMS = (parse("iinfo(torch.dtype type)"),)
_FRACTION_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


class _Limits(CType):
    """Base of finfo and iinfo. bits: of one element. dtype: the name of its type."""

    __slots__ = ("bits", "dtype", "max", "min")
    bits: int
    dtype: str

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, value: object) -> bool:
        """Tell whether both are limits of the same type."""
        return isinstance(value, _Limits) and self.dtype == value.dtype

    def __hash__(self) -> int:
        """Return the hash, which equal limits share."""
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        """Refuse pickle and copy."""
        raise TypeError(f"cannot pickle '{type_name(self)}' object")


class finfo(_Limits):  # noqa: N801 (PyTorch's name)
    """The limits of a floating-point type, or of the parts of a complex one.

    Without a type, of the default one. Errors: TypeError for other types and arguments.

    max, min: the largest finite number and its negative. eps: from 1 to the next number.
    smallest_normal, tiny: the smallest positive number with full precision. resolution: of as
    many decimals as are certain.
    """

    __module__ = "torch"
    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")
    max: float
    min: float
    eps: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __new__(cls, *args: Any, **named: Any) -> finfo:
        """Return the limits of a type."""
        kind = _element_type(_FLOAT_FORMS, args, named)
        kind = kind.to_real() if kind.is_complex else kind
        if not kind.is_floating_point:
            what = "a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            raise TypeError(f"torch.finfo() requires {what}")
        # IEEE 754's rules: the bits that are left for the exponent give the range.
        fraction = _FRACTION_BITS[kind.name]
        bias = 2 ** (8 * kind.itemsize - fraction - 2) - 1
        eps, tiny, largest = 2.0**-fraction, 2.0 ** (1 - bias), (2 - 2.0**-fraction) * 2.0**bias
        digits = floor(fraction * log10(2))
        limits = object.__new__(cls)
        limits._set(bits=8 * kind.itemsize, dtype=kind.name, max=largest, min=-largest, eps=eps)
        limits._set(resolution=float(f"1e-{digits}"), smallest_normal=tiny, tiny=tiny)
        return limits

    def __repr__(self) -> str:
        """Return the limits as PyTorch prints them, with six digits."""
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo(_Limits):  # noqa: N801 (PyTorch's name)
    """The limits of a type of whole numbers: max and min.

    Errors: TypeError for other types and arguments.
    """

    __module__ = "torch"
    __slots__ = ()
    max: int
    min: int

    def __new__(cls, *args: Any, **named: Any) -> iinfo:
        """Return the limits of a type."""
        kind = _element_type(_INTEGER_FORMS, args, named)
        if kind.is_floating_point or kind.is_complex:
            what = "an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            raise TypeError(f"torch.iinfo() requires {what}")
        if kind is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        bits = 8 * kind.itemsize
        smallest = -(2 ** (bits - 1)) if kind.is_signed else 0
        limits = object.__new__(cls)
        limits._set(bits=bits, dtype=kind.name, min=smallest, max=smallest + 2**bits - 1)
        return limits

    def __repr__(self) -> str:
        """Return the limits as PyTorch prints them, with six digits."""
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _element_type(forms: Sequence[Schema], args: Sequence[Any], named: Mapping[str, Any]) -> dtype:
    """Return the element type of a call's arguments. Raises TypeError for other calls."""
    _, arguments = arguments_of(forms, args, named)
    value = arguments.get("type", default_dtype())
    kind: dtype = dtype_of_python(value) or value
    return kind
