"""Tensors from Python's data: numbers, and sequences in sequences, which have no element type.

The type is that of the widest number in them, and the shape that of the first elements. Lists of
plain numbers are converted at once by numpy; all else, errors among them, element by element.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import (
    Category,
    bool_,
    default_dtype,
    dtype,
    dtype_of,
    int64,
    promote_types,
)
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.shapes import Shape, check_long
from th_shell.torch.base.warn import warn_once
from th_shell.torch.compute.promotion import type_of_number
from th_shell.torch.tensors.layouts import copy_of
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast

_PLAIN = (list, tuple)
_OF_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)


def array_of(data: Any, kind: dtype | None = None) -> Array:
    """Return a new array of Python's data, of numpy's arrays, or of a tensor's elements.

    kind: the element type; by default that of the data. Raises TypeError and ValueError for data
    that is none or is not regular, RuntimeError for numbers that do not fit the type.
    """
    array = None if data.__class__ in _PLAIN else _copied(data, kind)
    if array is not None:
        return array
    shape = _shape_of(data)
    leaves = _flatten(data, shape)
    array = None if leaves is None else _at_once(leaves, kind)
    if array is None:
        element_type = kind or _type_of(data)
        array = (
            np.empty(0, element_type.numpy)
            if 0 in shape
            else _one_by_one(data, shape, element_type)
        )
    return array.reshape(shape)


def _copied(data: Any, kind: dtype | None) -> Array | None:
    """Return the elements of a tensor or an array; None for other data."""
    if isinstance(data, Tensor):
        return copy_of(data, kind or data.dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__array_interface__") and not isinstance(data, np.generic):
        array = np.asarray(data)
        natural = dtype_of(array.dtype)
        check_steps(array)
        return copy_of(wrap(array), kind or natural)
    return None


def check_steps(array: Array) -> None:
    """Raise ValueError for an array that no tensor can be."""
    if min(array.strides, default=0) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )


def _shape_of(data: Any) -> Shape:
    """Return the shape that the first elements tell."""
    sizes: list[int] = []
    first = data
    while _is_sequence(first):
        sizes.append(len(first))
        if len(sizes) > 128:  # as in PyTorch
            raise ValueError(f"too many dimensions '{type(first).__name__}'")
        if not sizes[-1]:
            break
        first = first[0]
        if len(sizes) == 1 and isinstance(first, np.ndarray):
            warn_once(_OF_ARRAYS)
    return tuple(sizes)


def _is_sequence(value: Any) -> bool:
    if value.__class__ in _PLAIN:
        return True
    if isinstance(value, (Tensor, dict, int, float)):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return hasattr(value, "__getitem__") and hasattr(value, "__len__")


def _flatten(data: Any, shape: Shape) -> Sequence[Any] | None:
    """Return the elements of lists in lists in one list; None where the lists are not regular."""
    if not shape:
        return (data,)
    level: Any = (data,)
    for size in shape:
        for part in level:
            if part.__class__ not in _PLAIN or len(part) != size:
                return None
        level = level[0] if len(level) == 1 else list(chain.from_iterable(level))
    return level  # type: ignore[no-any-return]


def _at_once(leaves: Sequence[Any], kind: dtype | None) -> Array | None:
    """Return the array of Python's numbers.

    None for other elements, and for one that does not fit.
    """
    types = set(map(type, leaves))
    if not types <= _PLAIN_NUMBERS.keys():
        return None
    natural = max(map(_PLAIN_NUMBERS.__getitem__, types), default=Category.FLOAT)
    element_type = kind or (bool_, int64, default_dtype())[natural]
    if natural is Category.FLOAT and element_type.category is Category.INTEGER:
        return None
    try:
        # Ints are read as they are, so that those which do not fit are seen.
        read = np.int64 if natural is Category.INTEGER else None
        values: Array = quietly.run(np.array, leaves, read or element_type.numpy)
    except OverflowError:
        return None
    if read is None or element_type is int64:
        return values
    if element_type.category is Category.INTEGER:
        limits = np.iinfo(element_type.numpy)
        low = -limits.max if not limits.min else limits.min
        if values.size and (values.min() < low or values.max() > limits.max):
            return None
    return cast(values, element_type.numpy)


_PLAIN_NUMBERS = {bool: Category.BOOL, int: Category.INTEGER, float: Category.FLOAT}


def _type_of(data: Any) -> dtype:
    """Return the element type for any data. Raises TypeError and RuntimeError for what has none."""
    if isinstance(data, (np.generic, np.ndarray)):
        return dtype_of(data.dtype)
    if isinstance(data, (bool, int, float)):
        return type_of_number(type(data))
    if isinstance(data, complex):
        raise NotImplementedError("complex numbers are not provided here")
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {_name_of_type(data)}")
    return reduce(promote_types, map(_type_of, data)) if len(data) else default_dtype()


def _name_of_type(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ in _UNNAMED else f"{kind.__module__}.{kind.__name__}"


#: Modules whose types the messages name without them: those that are written in Python.
_UNNAMED = ("builtins", "__main__", "fractions")


def _one_by_one(data: Any, shape: Shape, kind: dtype) -> Array:
    values = np.empty(prod(shape), kind.numpy)
    convert = _converter(kind)
    with np.errstate(over="ignore"):
        for at, value in enumerate(_elements(data, shape, 0)):
            values[at] = convert(value)
    return values


def _elements(data: Any, shape: Shape, dim: int) -> Any:
    """Go through the elements in order. Raises TypeError, ValueError for irregular data."""
    if dim == len(shape):
        yield data
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    for part in data:
        yield from _elements(part, shape, dim + 1)


def _converter(kind: dtype) -> Callable[[Any], Any]:
    if kind.category is Category.INTEGER:
        return lambda value: _as_whole(value, kind)

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            if value.array.size != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            return cast(value.array.reshape(()), kind.numpy)[()]
        if kind.category is Category.FLOAT:
            return _as_float(value)
        is_truth = isinstance(value, (float, np.bool_))
        return bool(value) if is_truth else operator.index(value) != 0

    return convert


def _as_float(value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except TypeError:
        raise TypeError(f"must be real number, not {type(value).__name__}") from None


def _as_whole(value: Any, kind: dtype) -> Any:
    if isinstance(value, float):
        return convert_number(float(value), kind, kind.name)
    number = operator.index(value)
    check_long(number)
    return convert_number(number, kind, kind.name)


def convert_number(value: Any, kind: dtype, name: str) -> Any:
    """Return a number as numpy's number of a type. Raises RuntimeError for one that does not fit.

    Unsigned types take negative ints, too, which wrap. name: the type's in the message.
    """
    if kind is bool_:
        return np.bool_(value)
    numpy = kind.numpy.type
    if kind.category is Category.FLOAT:
        return _rounded(value, kind, name)
    limits = np.iinfo(numpy)
    low = limits.min
    if isinstance(value, int):
        low = low or -limits.max
        value = int(value)
    if not low <= value <= limits.max:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    whole = int(value)
    return numpy(whole + limits.max + 1 if whole < limits.min else whole)


def _rounded(value: Any, kind: dtype, name: str) -> Any:
    number = float(value)
    if abs(number) != np.inf and abs(number) > float(np.finfo(kind.numpy).max):
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return quietly.run(kind.numpy.type, number)
