"""Conversions to other types, and the constructors of old programs: ``torch.FloatTensor([1, 2])``.

A class such as FloatTensor has no instances of its own: all tensors are `Tensor`s, and those of
its element type count as its instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from th_shell.torch.base.device import check_device
from th_shell.torch.base.dtypes import DTYPES, default_dtype, dtype, layout, strided
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.shapes import Size
from th_shell.torch.calls.argument_types import Rejected, as_ints
from th_shell.torch.calls.schema import Kind, Place
from th_shell.torch.calls.table import op
from th_shell.torch.compute.literals import array_of
from th_shell.torch.ops.creation import check_sizes
from th_shell.torch.tensors.layouts import copy_of
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap

_REST = "bool non_blocking = False, bool copy = False"


def as_type(tensor: Tensor, kind: dtype, copy: bool = False) -> Tensor:
    """Return a tensor's elements as a type.

    The tensor itself if it has it and no copy is asked for.
    """
    return tensor if tensor.dtype is kind and not copy else wrap(copy_of(tensor, kind))


@op(function=False)
def to(
    input: Tensor,
    device: Place = None,
    dtype: Kind = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """Return the tensor as another type, or on another device; itself if nothing changes."""
    check_device(device)
    return as_type(input, dtype or input.dtype, copy)


@op(f"to(Tensor input, Tensor tensor, {_REST})", function=False)
@op(f"to(Tensor input, torch.dtype dtype, {_REST})", function=False)
def to_type(input: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False) -> Tensor:
    """Return the tensor as another type, or that of another tensor; itself if it has it."""
    return as_type(input, dtype.dtype if isinstance(dtype, Tensor) else dtype, copy)


@op(function=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the tensor as the type of another one; itself if it has it."""
    return as_type(input, other.dtype)


def _conversion(name: str, kind: dtype) -> None:
    @op(name=name, function=False)
    def convert(input: Tensor) -> Tensor:
        return as_type(input, kind)

    convert.__doc__ = f"Return the elements as {kind!r}; the tensor itself if it has that type."


_NAMES = "bool byte char short int long half float double".split()
for _kind in DTYPES:
    if _kind.scalar.lower() in _NAMES:
        _conversion(_kind.scalar.lower(), _kind)


@op()
def clone(input: Tensor) -> Tensor:
    """Return a copy, which shares no memory with the tensor."""
    return wrap(copy_of(input, input.dtype))


@op(function=False)
def cpu(input: Tensor) -> Tensor:
    """Return the tensor itself, since there is no other device."""
    return input


@op(function=False)
def cuda(input: Tensor, device: Place = None, non_blocking: bool = False) -> Tensor:
    """Return the tensor on a device with CUDA. Raises RuntimeError, since none is provided."""
    check_device("cuda")
    return input


def construct(kind: Kind, args: Sequence[Any], *, device: Any = None, **named: Any) -> Tensor:
    """Return the tensor of a constructor's arguments: sizes, numbers in a sequence, or a tensor.

    kind: the element type; None for that of the argument, or the default. Raises TypeError,
    RuntimeError and ValueError.
    """
    check_device(device)
    for name in named:
        raise TypeError(f"new() got an unexpected keyword argument '{name}'")
    type_of_new = kind or default_dtype()
    if len(args) != 1 or isinstance(args[0], (int, np.integer, Size)):
        try:
            sizes = as_ints(args[0] if isinstance(args[0], Size) else args) if args else (0,)
        except Rejected:
            types = ", ".join(map(type_name, args))
            raise TypeError(f"new() takes sizes, a sequence or a tensor (got {types})") from None
        return wrap(np.empty(check_sizes(sizes), type_of_new.numpy))
    (data,) = args
    if isinstance(data, Tensor):
        if kind is not None and data.dtype is not kind:
            raise TypeError(f"expected a tensor of {kind!r} (got one of {data.dtype!r})")
        return view_of(data, data.array)
    if not hasattr(data, "__len__") or isinstance(data, (dict, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    return wrap(array_of(data, type_of_new))


class tensortype(type):  # noqa: N801 (PyTorch's name)
    """The class of classes such as FloatTensor."""

    __module__ = "torch"
    dtype: dtype
    layout: layout

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return construct(cls.dtype, args, **named)


class TypedTensor:
    """Base of classes such as FloatTensor, which have no instances of their own."""

    layout = strided
    is_cuda = False
    is_sparse = False


def _tensor_type(kind: dtype) -> tensortype:
    """Return the class of tensors of an element type."""
    members = {"dtype": kind, "__module__": "torch", "__doc__": None}
    return tensortype(f"{kind.scalar}Tensor", (TypedTensor,), members)


#: The classes by the names that `type()` tells: 'torch.FloatTensor'.
TENSOR_TYPES = {
    f"torch.{kind.scalar}Tensor": _tensor_type(kind)
    for kind in DTYPES
    if kind.scalar.lower() in _NAMES
}


def _new_tensor(cls: type[Tensor], *args: Any, **named: Any) -> Tensor:
    return construct(None, args, **named)


Tensor.__new__ = _new_tensor  # type: ignore[method-assign, assignment]


# -- names of types, and tensors from tensors


@op(name="type", function=False)
def type_(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the tensor's type; or the tensor as another type, itself if it has it."""
    return f"torch.{input.dtype.scalar}Tensor" if dtype is None else as_type(input, _type_of(dtype))


def _type_of(type_or_name: Any) -> dtype:
    if isinstance(type_or_name, dtype):
        return type_or_name
    if not isinstance(type_or_name, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = type_or_name if isinstance(type_or_name, str) else _full_name(type_or_name)
    if name == "torch.Tensor":
        return default_dtype()
    tensor_class = TENSOR_TYPES.get(name)
    if tensor_class is None:
        raise ValueError(f"invalid type: '{name}'")
    return tensor_class.dtype


def _full_name(cls: type) -> str:
    module = "torch" if issubclass(cls, Tensor) else cls.__module__
    return cls.__name__ if module == "builtins" else f"{module}.{cls.__name__}"


def _new(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """Return a tensor of this one's type: of sizes, or of a sequence of numbers."""
    return construct(self.dtype, args, **named)


_new.__name__ = "new"
setattr(Tensor, "new", _new)  # noqa: B010
