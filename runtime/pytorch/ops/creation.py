"""Tensors from numbers. PyTorch's documentation: torch, Creation Ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.dtypes import default_dtype, dtype
from runtime.pytorch.shapes import Shape, listed
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap

__all__: list[str] = []

#: What the signatures of all functions that make tensors end with.
OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)


def check_sizes(size: Shape) -> Shape:
    """The sizes of a new tensor. Raises RuntimeError for a negative one."""
    for n in size:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {listed(size)}"
            )
    return size


@op(f"zeros(tuple of ints size, *, Tensor out = None, {OPTIONS})")
def zeros(size: Shape, *, dtype: dtype | None = None) -> Tensor:
    """A tensor of zeros."""
    return wrap(np.zeros(check_sizes(size), (dtype or default_dtype()).numpy))


@op(f"ones(tuple of ints size, *, Tensor out = None, {OPTIONS})")
def ones(size: Shape, *, dtype: dtype | None = None) -> Tensor:
    """A tensor of ones."""
    return wrap(np.ones(check_sizes(size), (dtype or default_dtype()).numpy))


@op(
    "empty(tuple of ints size, *, Tensor out = None, torch.dtype dtype = None, torch.layout layout "
    "= None, torch.device device = None, bool pin_memory = False, bool requires_grad = False, "
    "torch.memory_format memory_format = None)"
)
def empty(size: Shape, *, dtype: dtype | None = None, memory_format: Any = None) -> Tensor:
    """A tensor of undetermined elements."""
    return wrap(np.empty(check_sizes(size), (dtype or default_dtype()).numpy))
