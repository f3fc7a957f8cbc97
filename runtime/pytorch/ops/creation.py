"""Tensors of given sizes, filled with a number. PyTorch's documentation: torch, Creation Ops.

Of the options that all functions which make tensors have, an implementation gets the dtype alone.
`out=` decides the type where it is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import default_dtype, dtype, float32
from th_shell.torch.base.shapes import Shape, listed
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.schema import NEW, Kind, Number, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.literals import array_of, convert_number
from th_shell.torch.compute.promotion import type_of_number
from th_shell.torch.compute.reductions import give
from th_shell.torch.ops.interchange import from_numpy
from th_shell.torch.tensors.large_arrays import filled_tensor
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap

#: As many elements of 8 bytes have no address.
_MOST = 2**60


_NEGATIVE = "Trying to create tensor with negative dimension {}: {}"


def check_sizes(size: Shape, message: str = _NEGATIVE) -> Shape:
    """Return the sizes of a new tensor. Raises RuntimeError for negative or too large ones."""
    for n in size:
        if n < 0:
            raise RuntimeError(message.format(n, listed(size)))
    if math.prod(size) >= _MOST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={listed(size)}")
    return size


def type_for(dtype: Kind, out: Out, natural: dtype | None = None) -> dtype:
    """Return the type of a new tensor. Raises RuntimeError where ``out`` has another one.

    natural: that of the numbers, which is the default type if it is not given.
    """
    if out is None:
        return dtype or natural or default_dtype()
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"dtype {dtype.scalar} does not match dtype of out parameter ({out.dtype.scalar})"
        )
    return out.dtype


@op(more=NEW)
def zeros(size: Shape, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return a tensor of zeros."""
    check_sizes(size, "zeros: Dimension size must be non-negative.")
    return give(filled_tensor(size, type_for(dtype, out).numpy, 0), out)


@op(more=NEW)
def ones(size: Shape, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return a tensor of ones."""
    return give(filled_tensor(check_sizes(size), type_for(dtype, out).numpy, 1), out)


@op(more=NEW)
def empty(size: Shape, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return a tensor of undetermined elements."""
    kind = type_for(dtype, out).numpy
    return give(np.empty(check_sizes(size), kind), out, warns=False)


@op(more=NEW)
def full(size: Shape, fill_value: Number, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return a tensor whose elements are all one number, of which they have the type."""
    kind = type_for(dtype, out, type_of_number(type(fill_value)))
    return give(filled(size, fill_value, kind), out)


def filled(size: Shape, number: Any, kind: dtype) -> Tensor:
    """Return a new tensor of one number. Raises RuntimeError where the number does not fit."""
    check_sizes(size)
    is_plain = number.__class__ is float and kind.itemsize >= 4 and abs(number) < 2.0**53
    if not is_plain or not kind.is_floating_point:
        number = fill_number(number, kind)
    return filled_tensor(size, kind.numpy, number)


def fill_number(number: Any, kind: dtype) -> Any:
    """Return a number of a type. Raises RuntimeError, OverflowError where it does not fit."""
    if number.__class__ in _PLAIN and kind.is_floating_point and kind.itemsize >= 4:
        if -(2**53) < number < 2**53:
            return kind.numpy.type(number)
    if isinstance(number, int) and not -(2**63) <= number < 2**64:
        raise OverflowError("int too big to convert")
    return convert_number(number, kind, _C_NAMES.get(kind.name, kind.real))


_PLAIN = (float, int)
#: The names of types in the message of a number that does not fit, where they are not `real`.
_C_NAMES = {name: f"{name}_t" for name in ("uint8", "int8", "int16", "int64")}


def check_factor(number: Any, kind: dtype) -> Any:
    """Return a number to compute with elements of a type: of 32 bits for those of 16."""
    return fill_number(number, float32 if kind.is_floating_point and kind.itemsize == 2 else kind)


# -- of the sizes of another tensor


@op(more=NEW, method=False)
def empty_like(input: Tensor, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of a tensor's sizes, of undetermined elements."""
    return wrap(empty_like_array(input, (dtype or input.dtype).numpy))


def _filled_like(input: Tensor, number: Any, kind: dtype) -> Tensor:
    """Return a tensor of a tensor's sizes and layout, and of one number of the type."""
    if input.array.flags.c_contiguous:
        return filled_tensor(input.array.shape, kind.numpy, number)
    new = wrap(empty_like_array(input, kind.numpy))
    new.array.fill(number)
    return new


def _fill_like(name: str, number: int) -> Callable[..., Tensor]:
    @op(name=f"{name}_like", more=NEW, method=False)
    def compute(input: Tensor, *, dtype: Kind = None) -> Tensor:
        return _filled_like(input, number, dtype or input.dtype)

    compute.__doc__ = f"Return a tensor of a tensor's sizes, whose elements are {name}."
    return compute


zeros_like = _fill_like("zeros", 0)
ones_like = _fill_like("ones", 1)


@op(more=NEW, method=False)
def full_like(input: Tensor, fill_value: Number, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of a tensor's sizes, whose elements are all one number."""
    kind = dtype or input.dtype
    return _filled_like(input, fill_number(fill_value, kind), kind)


# -- of the type of another tensor


@op(more=NEW, function=False)
def new_empty(input: Tensor, size: Shape, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of undetermined elements, by default of this tensor's type."""
    return wrap(np.empty(check_sizes(size), (dtype or input.dtype).numpy))


@op(more=NEW, function=False)
def new_zeros(input: Tensor, size: Shape, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of zeros, by default of this tensor's type."""
    return filled_tensor(check_sizes(size), (dtype or input.dtype).numpy, 0)


@op(more=NEW, function=False)
def new_ones(input: Tensor, size: Shape, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of ones, by default of this tensor's type."""
    return ones(size, dtype=dtype or input.dtype)


@op(more=NEW, function=False)
def new_full(input: Tensor, size: Shape, fill_value: Number, *, dtype: Kind = None) -> Tensor:
    """Return a tensor whose elements are all one number, by default of this tensor's type."""
    return filled(size, fill_value, dtype or input.dtype)


# -- of data


_PLACE, _GRADIENT = "torch.device device = None", "bool requires_grad = False"
_MORE = f"{_PLACE}, bool pin_memory = False, {_GRADIENT}"


def _warn_of_copy(data: Any, function: str) -> None:
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()."
            "clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            f"{function}(sourceTensor)."
        )


@op(more=_MORE)
def tensor(data: Any, *, dtype: Kind = None) -> Tensor:
    """Return a new tensor of numbers, sequences, an array or a tensor, with memory of its own."""
    _warn_of_copy(data, "torch.tensor")
    return wrap(array_of(data, dtype))


@op(more=f"{_PLACE}, {_GRADIENT}", function=False)
def new_tensor(input: Tensor, data: Any, *, dtype: Kind = None) -> Tensor:
    """Return a new tensor of data, by default of this tensor's type."""
    _warn_of_copy(data, "tensor.new_tensor")
    return wrap(array_of(data, dtype or input.dtype))


@op(more="torch.device device = None")
def as_tensor(data: Any, *, dtype: Kind = None) -> Tensor:
    """Return a tensor of data, which shares its memory where the type allows it."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return data
    return wrap(array_of(data, dtype))


@op()
def is_tensor(obj: Any) -> bool:
    """Tell whether an object is a tensor."""
    return isinstance(obj, Tensor)
