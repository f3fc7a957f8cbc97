"""Attributes of tensors: sizes, type, device, the only element; and functions of element types.

The geometry is told even where the storage has become too small for it. Of gradients, which are
not provided, a tensor tells that it has none.
PyTorch's documentation: torch.Tensor; torch, Tensor Attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from math import prod
from typing import Any

from th_shell.torch.base import dtypes
from th_shell.torch.base.device import CPU, NO_AUTOGRAD
from th_shell.torch.base.dtypes import dtype, strided
from th_shell.torch.base.shapes import wrap_dim
from th_shell.torch.calls.table import op
from th_shell.torch.compute import promotion
from th_shell.torch.tensors.tensor import Tensor


@op(function=False)
def size(input: Tensor, dim: int | None = None) -> Any:
    """Return the sizes of all dimensions, or of one."""
    if dim is None:
        return input._size or input.size_object
    sizes = input.sizes
    return sizes[dim if 0 <= dim < len(sizes) else wrap_dim(dim, len(sizes), takes_scalar=False)]


@op(name="dim ndimension", function=False)
def dim(input: Tensor) -> int:
    """Return the number of dimensions."""
    return len(input._size or input.size_object)


@op(name="nelement", function=False)
@op()
def numel(input: Tensor) -> int:
    """Return the number of elements."""
    return prod(input._size or input.size_object)


@op(function=False)
def item(input: Tensor) -> Any:
    """Return the only element as a number of Python's. Raises RuntimeError for more or fewer."""
    array = input.array
    if array.size != 1:
        raise RuntimeError(f"a Tensor with {array.size} elements cannot be converted to Scalar")
    return array.item()


@op(function=False)
def tolist(input: Tensor) -> Any:
    """Return the elements as lists in lists; a number where there is no dimension."""
    return input.array.tolist()


# -- the only element


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
    """Tell whether the only element is not zero. Raises RuntimeError where there are others."""
    return _truth(input)


def _tell(name: str) -> None:
    @op(name=name)
    def tell(input: Tensor) -> bool:
        value: bool = getattr(input.dtype, name)
        return value

    tell.__doc__ = f"Tell whether the element type {name.replace('_', ' ')}."


for _name in ("is_floating_point", "is_complex", "is_signed"):
    _tell(_name)


_PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "device": lambda self: CPU,
    "grad": lambda self: None,
    "grad_fn": lambda self: None,
    "is_cpu": lambda self: True,
    "is_leaf": lambda self: True,
    "itemsize": lambda self: self.dtype.itemsize,
    "layout": lambda self: strided,
    "nbytes": lambda self: self.array.nbytes,
    "ndim": lambda self: len(self._size or self.size_object),
    "shape": lambda self: self._size or self.size_object,
}
for _name in ("cuda", "sparse", "quantized", "mps"):
    _PROPERTIES[f"is_{_name}"] = lambda self: False
for _name, _function in _PROPERTIES.items():
    setattr(Tensor, _name, property(_function))


# -- element types


@op(
    "result_type(Tensor tensor, Tensor other)",
    "result_type(Number scalar, Tensor tensor)",
    "result_type(Tensor tensor, Number other)",
    "result_type(Number scalar1, Number scalar2)",
)
def result_type(first: Any, second: Any) -> dtype:
    """Return the type of a function's values where two operands meet."""
    return promotion.result_type(first, second)


op("can_cast(torch.dtype from_, torch.dtype to)")(dtypes.can_cast)
op()(dtypes.promote_types)


#: The functions of the module, which are no operations.
GRADIENT_MODES = ("inference_mode", "is_grad_enabled", "no_grad")


@contextmanager
def _nothing() -> Any:
    yield


def no_grad(function: Any = None) -> Any:
    """Return a `with` block, or a decorator, without gradients: all code is so."""
    return _nothing() if function is None else function


def inference_mode(mode: Any = True) -> Any:
    """Return a `with` block, or a decorator, without gradients: all code is so."""
    return mode if callable(mode) else _nothing()


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded: never."""
    return False


@op(function=False)
def requires_grad_(input: Tensor, requires_grad: bool = True) -> Tensor:
    """Leave the tensor without gradients. Raises NotImplementedError where they are wanted."""
    if requires_grad and not input.dtype.is_floating_point:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if requires_grad:
        raise NotImplementedError(NO_AUTOGRAD)
    return input


@op(
    "backward(Tensor input, Tensor gradient = None, bool retain_graph = None, "
    "bool create_graph = False, object inputs = None)",
    function=False,
)
def backward(input: Tensor, *_: Any, **__: Any) -> None:
    """Raise RuntimeError: no operation was recorded."""
    raise RuntimeError(
        f"element 0 of tensors does not require grad and does not have a grad_fn ({NO_AUTOGRAD})"
    )


_setter: Any = requires_grad_
setattr(Tensor, "requires_grad", property(lambda self: False, _setter))  # noqa: B010
