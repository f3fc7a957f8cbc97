"""A tensor with one element as a number of Python's; and what a tensor tells of its type.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.pytorch.base.formats import strided
from runtime.pytorch.calls.table import op
from runtime.pytorch.tensors.tensor import Tensor


def _the_number(tensor: Tensor) -> Any:
    array = tensor.array
    if array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return array.item()


def _truth(self: Tensor) -> bool:
    array = self.array
    if array.size != 1:
        count = "more than one value" if array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    return bool(array.item())


def _index(self: Tensor) -> int:
    array = self.array
    if array.size != 1 or array.dtype.kind == "f":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(array.item())


_CONVERSIONS: dict[str, Callable[[Tensor], Any]] = {
    "__bool__": _truth,
    "__int__": lambda self: int(_the_number(self)),
    "__float__": lambda self: float(_the_number(self)),
    "__complex__": lambda self: complex(_the_number(self)),
    "__index__": _index,
}
for _name, _function in _CONVERSIONS.items():
    _function.__name__ = _name
    setattr(Tensor, _name, _function)


@op()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero. Raises RuntimeError where there are others."""
    return _truth(input)


@op()
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return input.dtype.is_floating_point


@op()
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers, which is never so."""
    return input.dtype.is_complex


@op()
def is_signed(input: Tensor) -> bool:
    """Whether the element type has negative numbers."""
    return input.dtype.is_signed


@op(name="is_inference")
@op(name="is_neg")
@op(name="is_conj")
def is_lazy(input: Tensor) -> bool:
    """Whether a computation on the elements is put off, which is never so."""
    return False


@op()
def get_device(input: Tensor) -> int:
    """The number of the tensor's device; -1 for the processor."""
    return -1


def _imaginary(self: Tensor) -> Any:
    raise TypeError("imag is not implemented for tensors with non-complex dtypes.")


_PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "layout": lambda self: strided,
    "real": lambda self: self,
    "imag": _imaginary,
}
for _name, _function in _PROPERTIES.items():
    setattr(Tensor, _name, property(_function))
for _name in ("cuda", "sparse", "quantized", "meta", "mkldnn", "mps", "xpu", "nested"):
    setattr(Tensor, f"is_{_name}", property(lambda self: False))
Tensor.is_cpu = property(lambda self: True)  # type: ignore[attr-defined]
