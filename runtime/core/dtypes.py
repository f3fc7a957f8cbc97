"""The element types: their names in Torch, C and numpy, and C's conversions between them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from th_shell.runtime.core.c_structs import ELEMENT_TYPES

Array = np.ndarray[Any, np.dtype[Any]]

#: The largest number up to which each whole number is a double.
EXACT = float(2**53)
_INT32_LIMIT = float(2**31)
_INT64_LIMIT = float(2**63)


@dataclass(frozen=True, eq=False)
class DType:
    """One element type.

    name: Torch's prefix ('Double' of torch.DoubleTensor).
    real: the C type, as call forms print it.
    numpy: the numpy dtype.
    index: position in DTYPES.
    """

    name: str
    real: str
    numpy: np.dtype[Any]
    index: int

    @property
    def is_float(self) -> bool:
        """Tell whether the elements are floating-point numbers."""
        return self.numpy.kind == "f"

    @property
    def size(self) -> int:
        """Return the number of bytes of an element."""
        return self.numpy.itemsize

    @property
    def tensor_name(self) -> str:
        """Return the tensor's class: 'torch.DoubleTensor'."""
        return f"torch.{self.name}Tensor"

    @property
    def storage_name(self) -> str:
        """Return the storage's class: 'torch.DoubleStorage'."""
        return f"torch.{self.name}Storage"


_NUMPY = (np.uint8, np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.float16)

#: All element types. Half is for storing: it has few operations (see ops/half.py).
DTYPES = tuple(
    DType(name, real, np.dtype(_NUMPY[index]), index)
    for index, (name, real) in enumerate(ELEMENT_TYPES)
)
BYTE, CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, HALF = DTYPES
#: The element types that torch computes with, in the order in which the reference tries them.
REALS = DTYPES[:-1]


def cast(values: Array, to: DType) -> Array:
    """Convert an array's elements as C does on x86-64; the array itself if it has the type.

    A float that does not fit an integer type becomes the smallest int (32 bits, or 64 for
    Long) and then wraps; integers wrap; floats round to the nearest float, which becomes a half.
    """
    source = values.dtype
    if source == to.numpy:
        return values
    if source.kind == "f" and not to.is_float:
        return cut(values, 8 if to is LONG else 4).astype(to.numpy, copy=False)
    with np.errstate(over="ignore"):
        return (values.astype(np.float32) if to is HALF else values).astype(to.numpy)


def cut(values: Array, width: int) -> Array:
    """Convert floats to whole numbers of 4 or 8 bytes, without their fractions.

    Numbers that do not fit, and nans, become the smallest whole number.
    """
    if values.itemsize == 2:
        values = values.astype(np.float32)  # a half has no number as large as the limits
    limit, wide = (_INT64_LIMIT, np.int64) if width == 8 else (_INT32_LIMIT, np.int32)
    largest = np.maximum.reduce(np.absolute(values), axis=None, initial=0)
    if not largest < limit:  # also if one is nan
        values = np.where((values > -limit - 1) & (values < limit), values, -limit)
    cut_values: Array = values.astype(wide)
    return cut_values


def cast_into(out: Array, values: Array, to: DType) -> None:
    """Set out's elements to values, converted as `cast` does; both have the same shape."""
    if to is not HALF and (values.dtype.kind != "f" or to.is_float):
        np.copyto(out, values, casting="unsafe")
    elif values.size:
        flags: Any = ["external_loop", "buffered", "zerosize_ok"]
        with np.nditer([out, values], flags, [["writeonly"], ["readonly"]]) as chunks:
            for part, source in chunks:
                part[...] = cast(source, to)


def cast_scalar(value: float, to: DType) -> float | int:
    """Convert a Lua number as `cast` does: the value that an element of type ``to`` takes."""
    if to is DOUBLE:
        return value
    if to is FLOAT:
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    if to is HALF:
        return float(np.float32(value).astype(np.float16))
    limit = _INT64_LIMIT if to is LONG else _INT32_LIMIT
    whole = int(value) if -limit - 1 < value < limit else -int(limit)
    return wrapped(whole, to)


def wrapped(whole: int, to: DType) -> int:
    """Return a whole number wrapped to an integer type, as C does: its lowest bits."""
    if to is BYTE:
        return whole & 0xFF
    half = 1 << (8 * to.size - 1)
    return (whole + half) % (2 * half) - half
