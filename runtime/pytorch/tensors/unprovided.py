"""Tensors of types that are not provided, such as bfloat16, which files have beside others.

They tell their type and sizes, and can be saved again; what needs their elements is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import dtype
from th_shell.torch.tensors.tensor import Tensor, wrap


class UnprovidedTensor(Tensor, is_internal=True):
    """A tensor with whose elements nothing is computed."""

    __module__ = "torch"
    __slots__ = ("_kind",)
    _kind: dtype

    @property
    def dtype(self) -> dtype:
        """Return the element type."""
        return self._kind

    @property
    def array(self) -> Array:
        """Return an error. Raises NotImplementedError."""
        more = "" if self._kind.is_complex else ": .float() makes torch.float32 of it"
        raise NotImplementedError(f"{self._kind!r} tensors are not provided here{more}")

    def float(self, **options: Any) -> Tensor:
        """Return the numbers of bfloat16 as float32, which has them all."""
        if self._kind.is_complex:
            return super().float(**options)
        bits = super().array.view(np.uint16).astype(np.uint32) << 16
        return wrap(bits.view(np.float32))

    def __repr__(self) -> str:
        return f"tensor(..., size={tuple(self.sizes)}, dtype={self._kind!r})"


# What programs see of it is the class of all tensors.
UnprovidedTensor.__name__ = UnprovidedTensor.__qualname__ = "Tensor"


def new_tensor(kind: dtype) -> Tensor:
    """Return a tensor without elements, of any type, which becomes another view later."""
    if kind.storable is not None:
        return wrap(np.empty(0, kind.storable))
    tensor = object.__new__(UnprovidedTensor)
    tensor._kind, tensor._storage = kind, None
    tensor._array = np.empty(0, f"V{kind.itemsize}")
    return tensor


def memory_of(kind: dtype, count: int) -> tuple[np.dtype[Any], int]:
    """Return numpy's type for the storage of elements, and how many of it there are.

    bfloat16 has the bits of a uint16 there, a complex number those of two others.
    """
    if kind.storable is not None:
        return kind.storable, count
    if kind.is_complex:
        return kind.to_real().numpy, 2 * count
    return np.dtype(np.uint16), count
