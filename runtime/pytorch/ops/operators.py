"""The operators of tensors. PyTorch's documentation: torch.Tensor.

Those with tensors and numbers compute; for other operands Python asks these, and has the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.ops.arithmetic import (
    add_,
    divide,
    divide_floor,
    multiply,
    power_of,
    remainder,
    reversed_divide,
    subtract,
)
from runtime.pytorch.ops.pairs import BITS, COMPARISONS
from runtime.pytorch.ops.pointwise import absolute, inverse, negative, positive
from runtime.pytorch.tensors.tensor import Tensor, wrap

Binary = Callable[..., Any]
_OPERANDS = (Tensor, int, float, complex, np.number, np.bool_)
_PLAIN = frozenset((Tensor, int, float, bool))


def _operand(value: Any) -> Any:
    """An operand, numpy's numbers as Python's; NotImplemented for what is none."""
    if not isinstance(value, _OPERANDS):
        return NotImplemented
    return value.item() if isinstance(value, np.generic) else value


def _forward(function: Binary) -> Binary:
    def compute(self: Tensor, other: Any) -> Any:
        if other.__class__ not in _PLAIN:
            other = _operand(other)
            if other is NotImplemented:
                return other
        return function(self, other)

    return compute


def _backward(function: Binary) -> Binary:
    def compute(self: Tensor, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else function(other, self)

    return compute


def _in_place(function: Binary) -> Binary:
    def compute(self: Tensor, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else function(self, other, self)

    return compute


def _define(name: str, made: Callable[..., Any]) -> None:
    made.__name__ = name
    made.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, made)


_BINARY: dict[str, Binary] = {
    "add": add_,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": divide_floor,
    "mod": remainder,
    "pow": power_of,
    **BITS,
}
for _name, _function in _BINARY.items():
    _define(f"__{_name}__", _forward(_function))
    _define(f"__r{_name}__", _backward(_function))
    _define(f"__i{_name}__", _in_place(_function))
_define("__rtruediv__", _backward(reversed_divide))
for _name, _function in COMPARISONS.items():
    _define(f"__{_name}__", _forward(_function))


_compare = Tensor.__eq__


def _equals(self: Tensor, other: Any) -> Any:
    """Whether elements are equal; for this comparison alone numpy's arrays are tensors."""
    is_array = other.__class__ is np.ndarray and other.dtype.kind in "biuf"
    return _compare(self, wrap(other) if is_array else other)


_define("__eq__", _equals)


def _unary(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    return lambda self: function(self)


_define("__neg__", _unary(negative))
_define("__pos__", _unary(positive))
_define("__abs__", _unary(absolute))


def _invert(self: Tensor) -> Any:
    if self.dtype.is_floating_point:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return inverse(self)


_define("__invert__", _invert)


def _identity(self: Tensor) -> int:
    """PyTorch's hash, which programs compare with `id`."""
    return id(self)


setattr(Tensor, "__hash__", _identity)  # noqa: B010 (mypy refuses an assignment)
