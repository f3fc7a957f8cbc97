"""Tensors of data: Python's numbers and lists, numpy's arrays, other tensors.

PyTorch's documentation: torch, Creation Ops. What data is, tells `literals.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.base.warn import warn
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Kind
from runtime.pytorch.compute.literals import array_of
from runtime.pytorch.ops.interchange import from_numpy
from runtime.pytorch.tensors.layouts import copy_of
from runtime.pytorch.tensors.tensor import Tensor, wrap

_DATA = "torch.dtype dtype = None, torch.device device = None"
_OPTIONS = f"{_DATA}, bool pin_memory = False, bool requires_grad = False"


def _warn_of_copy(data: Any, function: str) -> None:
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()."
            "clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            f"{function}(sourceTensor)."
        )


@op(more="torch.device device = None, bool pin_memory = False, bool requires_grad = False")
def tensor(data: Any, *, dtype: Kind = None) -> Tensor:
    """A new tensor of numbers, sequences, an array or a tensor; it shares no memory with them."""
    _warn_of_copy(data, "torch.tensor")
    return wrap(array_of(data, dtype))


@op(
    more="torch.device device = None, bool pin_memory = False, bool requires_grad = False",
    function=False,
)
def new_tensor(input: Tensor, data: Any, *, dtype: Kind = None) -> Tensor:
    """A new tensor of data, by default of this tensor's type."""
    _warn_of_copy(data, "tensor.new_tensor")
    return wrap(array_of(data, dtype or input.dtype))


@op(more="torch.device device = None")
def as_tensor(data: Any, *, dtype: Kind = None) -> Tensor:
    """A tensor of data, which shares its memory where the type allows it."""
    if isinstance(data, Tensor):
        return _of_type(data, dtype)
    if isinstance(data, np.ndarray):
        return _of_type(from_numpy(data), dtype)
    return wrap(array_of(data, dtype))


def _of_type(data: Tensor, dtype: Kind) -> Tensor:
    if dtype is None or data.dtype is dtype:
        return data
    return wrap(copy_of(data, dtype))


@op(f"asarray(object obj, *, {_DATA}, bool copy = None, bool requires_grad = False)")
def asarray(obj: Any, *, dtype: Kind = None, copy: bool | None = None) -> Tensor:
    """A tensor of data, which shares its memory where that is possible, or as `copy` says."""
    if isinstance(obj, np.generic):
        obj = np.asarray(obj)
    if copy is not None and isinstance(obj, np.ndarray):
        obj = from_numpy(obj)
    if not isinstance(obj, Tensor):
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return as_tensor(obj, dtype=dtype)
    if dtype is None or dtype is obj.dtype:
        return wrap(copy_of(obj, obj.dtype)) if copy else obj
    if copy is False:
        raise ValueError(
            f"can't alias tensor with dtype '{obj.dtype.scalar}' into dtype '{dtype.scalar}'."
        )
    return _of_type(obj, dtype)


@op()
def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)
