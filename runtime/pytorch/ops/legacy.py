"""Conversions to other types, and the constructors of old programs: ``torch.FloatTensor([1, 2])``.

A class such as FloatTensor has no instances of its own: all tensors are `Tensor`s, and those of
its element type count as its instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from th_shell.torch.base.c_types import type_name
from th_shell.torch.base.dtypes import (
    DTYPES,
    default_dtype,
    dtype,
    layout,
    memory_format,
    set_default_dtype,
    strided,
)
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, Size
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.device import NO_DRIVER, check_device, device
from th_shell.torch.calls.device import device as Device  # noqa: N812 (parameters have its name)
from th_shell.torch.calls.kinds import Rejected, converter
from th_shell.torch.calls.messages import invalid_arguments, not_unpacked
from th_shell.torch.calls.schema import Format, Kind, Place, parse
from th_shell.torch.calls.table import op
from th_shell.torch.compute.literals import array_of
from th_shell.torch.ops.creation import check_sizes
from th_shell.torch.tensors.layouts import copy_of, format_strides
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap

_FORMAT = "torch.memory_format memory_format = None"
_REST = f"bool non_blocking = False, bool copy = False, *, {_FORMAT}"


def as_type(tensor: Tensor, kind: dtype, copy: bool = False, order: Format = None) -> Tensor:
    """A tensor's elements as a type; the tensor itself if it has it and no copy is wanted."""
    if tensor.dtype is kind and not copy and (order is None or _lies_so(tensor, order)):
        return tensor
    return wrap(copy_of(tensor, kind, order))


def _lies_so(tensor: Tensor, order: memory_format) -> bool:
    # Any tensor counts as contiguous here that is in no other format.
    return order.name in ("preserve_format", "contiguous_format") or (
        tensor.strides == format_strides(tensor.sizes, order)
    )


@op(function=False)
def to(
    input: Tensor,
    device: Place = None,
    dtype: Kind = None,
    non_blocking: bool = False,
    copy: bool = False,
    *,
    memory_format: Format = None,
) -> Tensor:
    """The tensor as another type, or on another device; itself if nothing changes."""
    check_device(device)
    return as_type(input, dtype or input.dtype, copy, memory_format)


@op(f"to(Tensor input, Tensor tensor, {_REST})", function=False)
@op(f"to(Tensor input, torch.dtype dtype, {_REST})", function=False)
def to_type(
    input: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False, **options: Any
) -> Tensor:
    """The tensor as another type, or that of another tensor; itself if it has it."""
    kind = dtype.dtype if isinstance(dtype, Tensor) else dtype
    return as_type(input, kind, copy, options.get("memory_format"))


@op(function=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The tensor as the type of another one; itself if it has it."""
    return as_type(input, other.dtype)


def _conversion(name: str, kind: dtype) -> None:
    @op(name=name, function=False)
    def convert(input: Tensor, *, memory_format: Format = None) -> Tensor:
        return as_type(input, kind, order=memory_format)

    convert.__doc__ = f"The elements as {kind!r}; the tensor itself if it has that type."


_NAMES = "bool byte char short int long half bfloat16 float double".split()
for _kind in DTYPES:
    if _kind.scalar.lower() in _NAMES:
        _conversion(_kind.scalar.lower(), _kind)
for _name, _kind in zip(("chalf", "cfloat", "cdouble"), DTYPES[-3:], strict=True):
    _conversion(_name, _kind)


@op()
def clone(input: Tensor, *, memory_format: Format = None) -> Tensor:
    """A copy, which shares no memory with the tensor."""
    return wrap(copy_of(input, input.dtype, memory_format))


@op(function=False)
def cpu(input: Tensor, *, memory_format: Format = None) -> Tensor:
    """The tensor itself, since there is no other device."""
    return as_type(input, input.dtype, order=memory_format)


@op(function=False)
def cuda(
    input: Tensor, device: Place = None, non_blocking: bool = False, *, memory_format: Format = None
) -> Tensor:
    """The tensor on a device with CUDA. Raises RuntimeError, since none is provided."""
    if device is not None and Device(device).type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    check_device("cuda")
    return input


_SCHEMAS = [
    parse(text)
    for text in (
        "new(*, torch.device device = None)",
        "new(torch.Storage storage)",
        "new(Tensor other)",
        "new(tuple of ints size, *, torch.device device = None)",
        "new(object data, *, torch.device device = None)",
    )
]


def construct(kind: Kind, args: Sequence[Any], named: Mapping[str, Any]) -> Tensor:
    """The tensor of a constructor's arguments: sizes, or a sequence of numbers, or another tensor.

    kind: the element type; None for that of the argument, or the default. Raises TypeError,
    RuntimeError and ValueError in PyTorch's words.
    """
    args, named = list(args), dict(named)
    _check_device(named.pop("device", None))
    for name in ("data", "size", "other", "storage"):
        if not args and name in named:
            value = named.pop(name)
            args.append(Size(value) if name == "size" else value)
    if named:
        raise invalid_arguments(_SCHEMAS, args, named)
    if not args:
        return wrap(np.empty(0, (kind or default_dtype()).numpy))
    sizes = _sizes(args)
    if sizes is not None:
        return wrap(np.empty(check_sizes(sizes), (kind or default_dtype()).numpy))
    if len(args) > 1:
        raise invalid_arguments(_SCHEMAS, args, named)
    return _of(args[0], kind)


def _check_device(wanted: Any) -> None:
    if wanted is not None and device(wanted).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {device(wanted).type} "
            f"was passed"
        )


def _sizes(args: Sequence[Any]) -> Shape | None:
    """The sizes that the arguments are; None where they are something else."""
    if isinstance(args[0], Size):
        return tuple(args[0]) if len(args) == 1 else None
    size = parse("f(int n)").parameters[0]
    if isinstance(args[0], Tensor) or converter(size, type(args[0])) is None:
        return None
    for at, value in enumerate(args):
        convert = converter(size, type(value))
        if convert is None:
            if isinstance(value, float):
                return None
            shape = _SCHEMAS[3].parameters[0]
            raise TypeError(f"new(): {not_unpacked(shape, at, value)}")
    try:
        return tuple([converter(size, type(v))(v) for v in args])  # type: ignore[misc]
    except Rejected:
        return None


def _of(data: Any, kind: Kind) -> Tensor:
    if isinstance(data, Tensor):
        if kind is not None and data.dtype is not kind:
            raise TypeError(f"expected {_options(kind)} (got {_options(data.dtype)})")
        return view_of(data, data.array)
    if not hasattr(data, "__len__") or isinstance(data, (dict, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    return wrap(array_of(data, kind or default_dtype()))


def _options(kind: dtype) -> str:
    name = {"Byte": "unsigned char", "Char": "signed char", "Long": "long int"}.get(kind.scalar)
    return (
        f"TensorOptions(dtype={name or kind.real}, device=cpu, layout=Strided, "
        f"requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


class tensortype(type):  # noqa: N801 (PyTorch's name)
    """The class of classes such as FloatTensor."""

    __module__ = "torch"
    dtype: dtype
    layout: layout
    is_cuda: bool

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and not cls.is_cuda and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, **named: Any) -> Any:
        if cls.is_cuda:
            raise RuntimeError(NO_DRIVER)
        return construct(cls.dtype, args, named)


class TypedTensor:
    """What classes such as FloatTensor have in common; no instances."""

    layout = strided
    is_cuda = False
    is_sparse = False


def tensor_type(kind: dtype, is_cuda: bool = False) -> tensortype:
    """The class of tensors of an element type."""
    module = "torch.cuda" if is_cuda else "torch"
    members = {"dtype": kind, "is_cuda": is_cuda, "__module__": module, "__doc__": None}
    return tensortype(f"{kind.scalar}Tensor", (TypedTensor,), members)


#: The classes by the names that `type()` tells: 'torch.FloatTensor'.
TENSOR_TYPES = {
    f"torch.{'cuda.' if is_cuda else ''}{kind.scalar}Tensor": tensor_type(kind, is_cuda)
    for is_cuda in (False, True)
    for kind in DTYPES
    if kind.scalar.lower() in _NAMES
}


def set_default_tensor_type(t: Any) -> None:
    """Set the type of tensors that are made of Python's floats by the name of a class of tensors.

    Raises TypeError where it is no class of floating-point numbers.
    """
    found = TENSOR_TYPES.get(t) if isinstance(t, str) else t
    if not isinstance(found, tensortype):
        raise TypeError("invalid type object")
    if not found.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if found.is_cuda:
        raise RuntimeError(NO_DRIVER)
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch."
        "set_default_dtype() and torch.set_default_device() as alternatives."
    )
    set_default_dtype(found.dtype)


def _new_tensor(cls: type[Tensor], *args: Any, **named: Any) -> Tensor:
    found = construct(None, args, named)
    return found if cls is Tensor else _as_subclass(found, cls)


def _as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """This view of this storage as an instance of a class. Raises TypeError for no class."""
    require(isinstance(cls, type), "cls must be a type (got {})", type_name(cls), error=TypeError)
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    return self.kept_as(cls)


Tensor.__new__ = _new_tensor  # type: ignore[method-assign, assignment]
Tensor.as_subclass = _as_subclass  # type: ignore[method-assign, assignment]


# -- names of types, and tensors from tensors


@op(name="type", function=False)
def type_(
    input: Tensor, dtype: Any = None, non_blocking: bool = False, *, memory_format: Format = None
) -> Any:
    """The name of the tensor's type; or the tensor as another type, itself if it has it."""
    if dtype is None:
        return f"torch.{input.dtype.scalar}Tensor"
    return as_type(input, _type_of(dtype), order=memory_format)


def _type_of(wanted: Any) -> dtype:
    if isinstance(wanted, dtype):
        return wanted
    if not isinstance(wanted, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = wanted if isinstance(wanted, str) else _full_name(wanted)
    if name == "torch.Tensor":
        return default_dtype()
    found = TENSOR_TYPES.get(name)
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    if found.is_cuda:
        check_device("cuda")
    return found.dtype


def _full_name(wanted: type) -> str:
    module = "torch" if issubclass(wanted, Tensor) else wanted.__module__
    return wanted.__name__ if module == "builtins" else f"{module}.{wanted.__name__}"


def _new(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """A tensor of this one's type: of sizes, or of a sequence of numbers."""
    return construct(self.dtype, args, named)


_new.__name__ = "new"
Tensor.new = _new  # type: ignore[method-assign, assignment]
