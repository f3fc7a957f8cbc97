"""Tensors as another element type, on a device, or copied.

PyTorch's documentation: torch.Tensor.
"""

from __future__ import annotations

from typing import Any

from runtime.pytorch.base.dtypes import DTYPES, dtype
from runtime.pytorch.base.formats import memory_format
from runtime.pytorch.calls.device import check_device
from runtime.pytorch.calls.device import device as Device  # noqa: N812 (parameters have its name)
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Format, Kind, Place
from runtime.pytorch.tensors.layouts import copy_of, format_strides
from runtime.pytorch.tensors.tensor import Tensor, wrap

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
    input: Tensor,
    dtype: Any,
    non_blocking: bool = False,
    copy: bool = False,
    *,
    memory_format: Format = None,
) -> Tensor:
    """The tensor as another type, or that of another tensor; itself if it has it."""
    kind = dtype.dtype if isinstance(dtype, Tensor) else dtype
    return as_type(input, kind, copy, memory_format)


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
    if device is not None and _device_type(device) != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    check_device("cuda")
    return input


def _device_type(wanted: Any) -> str:
    return (wanted if isinstance(wanted, Device) else Device(wanted)).type
