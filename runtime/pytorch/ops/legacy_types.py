"""Names of types, and tensors from tensors, as in old programs: ``x.type()``, ``x.new(2)``."""

from __future__ import annotations

from typing import Any

from runtime.pytorch.base.dtypes import default_dtype, dtype
from runtime.pytorch.calls.device import check_device
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Format
from runtime.pytorch.ops.conversion import as_type
from runtime.pytorch.ops.legacy import TENSOR_TYPES, construct
from runtime.pytorch.tensors.tensor import Tensor


def type_name(tensor: Tensor) -> str:
    """The name of a tensor's class of old: 'torch.FloatTensor'."""
    return f"torch.{tensor.dtype.scalar}Tensor"


@op(name="type", function=False)
def type_(
    input: Tensor, dtype: Any = None, non_blocking: bool = False, *, memory_format: Format = None
) -> Any:
    """The name of the tensor's type; or the tensor as another type, itself if it has it."""
    if dtype is None:
        return type_name(input)
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
    if wanted.__module__ == "builtins":
        return wanted.__name__
    return f"{wanted.__module__}.{wanted.__name__}"


def _new(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """A tensor of this one's type: of sizes, or of a sequence of numbers."""
    return construct(self.dtype, args, named)


_new.__name__ = "new"
Tensor.new = _new  # type: ignore[attr-defined]
