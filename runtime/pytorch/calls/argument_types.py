"""The types of parameters: which values a parameter of each type takes, and as what.

A kind is asked once for each type of argument (`converter`). Where the type alone does not tell, as
for a list that must have ints in it, the converter that it gives looks at each value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.device import device
from th_shell.torch.base.dtypes import dtype, dtype_of_python, layout
from th_shell.torch.calls.schema import Parameter
from th_shell.torch.tensors.tensor import Tensor

#: How the value of an argument becomes the parameter's; raises Rejected where it does not.
Converter = Callable[[Any], Any]


class Rejected(Exception):
    """A value that a parameter does not take."""


def AS_IT_IS(value: Any) -> Any:  # noqa: N802 (a constant, but for being called)
    """Return the value: the converter where none is needed."""
    return value


def _as_int(value: Any) -> int:
    if isinstance(value, Tensor):
        array = value.array
        if array.size != 1 or array.dtype.kind not in "iu":
            raise Rejected
        return int(array.reshape(())[()])
    return operator.index(value)


def _as_number(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise Rejected
        return value.array[()].item()
    return value.item()


def _as_float(value: Any) -> float:
    return float(_as_number(value) if not isinstance(value, (int, float)) else value)


def as_ints(value: Any) -> tuple[int, ...]:
    """Return a list or tuple of ints as a tuple. Raises Rejected for other elements."""
    try:
        return tuple([v if v.__class__ is int else _as_size(v) for v in value])
    except TypeError:
        raise Rejected from None


def _as_size(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise Rejected
    return _as_int(value)


def as_tensors(value: Any) -> tuple[Tensor, ...]:
    """Return some tensors as a tuple. Raises TypeError for other elements."""
    tensors = tuple(value)
    for element in tensors:
        if element.__class__ is not Tensor and not isinstance(element, Tensor):
            position = next(at for at, tensor in enumerate(tensors) if tensor is element)
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, "
                f"but got {type(element).__name__}"
            )
    return tensors


def _int(cls: type) -> Converter | None:
    if cls is int:
        return AS_IT_IS
    if issubclass(cls, (Tensor, np.integer)) or (cls is not bool and issubclass(cls, int)):
        return _as_int
    return None


def _number(cls: type) -> Converter | None:
    if issubclass(cls, (int, float)) and not issubclass(cls, np.generic):
        return AS_IT_IS
    return _as_number if issubclass(cls, (Tensor, np.number, np.bool_)) else None


def _float(cls: type) -> Converter | None:
    if cls is float:
        return AS_IT_IS
    return _as_float if issubclass(cls, (Tensor, int, np.number)) else None


def _as_numbers(value: Any) -> tuple[Any, ...]:
    if not all(isinstance(v, (int, float)) for v in value):
        raise Rejected
    return tuple(value)


def _as_dtype(value: Any) -> dtype:
    kind = dtype_of_python(value)
    if kind is None:
        raise Rejected
    return kind


def converted(convert: Converter, *types: type) -> Callable[[type], Converter | None]:
    """Return a function that gives the converter for instances of some classes, None for others."""
    return lambda cls: convert if issubclass(cls, types) else None


#: The converter for each type of argument, or None where the parameter does not take it.
KINDS: dict[str, Callable[[type], Converter | None]] = {
    "Tensor": converted(AS_IT_IS, Tensor),
    "Number": _number,
    "int": _int,
    "float": _float,
    "bool": lambda cls: AS_IT_IS if cls is bool else converted(bool, np.bool_)(cls),
    "str": converted(AS_IT_IS, str),
    "object": converted(AS_IT_IS, object),
    "tuple of ints": converted(as_ints, tuple, list),
    "tuple of Scalars": converted(_as_numbers, tuple, list),
    "tuple of Tensors": converted(as_tensors, tuple, list),
    "torch.device": converted(AS_IT_IS, device, str, int),
    "torch.layout": converted(AS_IT_IS, layout),
    "torch.dtype": lambda cls: AS_IT_IS if cls is dtype else converted(_as_dtype, type)(cls),
}


def register_kind(name: str, *types: type) -> None:
    """Add a type of parameters that takes instances of some classes as they are."""
    KINDS[name] = converted(AS_IT_IS, *types)


def converter(parameter: Parameter, cls: type, numbers: bool = False) -> Converter | None:
    """Return the converter of a parameter for arguments of a type; None where it takes none.

    numbers: whether Python's numbers are taken for tensors.
    """
    if cls is type(None):
        return AS_IT_IS if parameter.nullable or parameter.kind == "object" else None
    convert = KINDS[parameter.kind](cls)
    if convert is None and parameter.single:
        return _int(cls)
    if convert is None and numbers and parameter.kind == "Tensor" and parameter.name != "out":
        return _number(cls)
    return convert
