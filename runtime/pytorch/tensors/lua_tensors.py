"""Tensors that Lua and Python share: one geometry, one storage, two faces.

A tensor that comes from Lua stays Lua's: where a program there resizes it, or sets it to another
storage, Python sees that, too. A tensor that goes to Lua becomes a Torch7 tensor on the same
storage; Torch7 has no tensor without dimensions, nor one with a size of 0 among others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import BYTE, DTYPES, Array
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.runtime.core.tensor import Tensor as LuaTensor
from th_shell.torch.base.shapes import Shape, Size, size_of
from th_shell.torch.tensors.tensor import Tensor, storage_type

_new = object.__new__


class SharedTensor(Tensor, is_internal=True):
    """A tensor whose geometry is that of a tensor of Lua's."""

    __module__ = "torch"

    __slots__ = ("of_lua",)

    of_lua: LuaTensor

    @property
    def array(self) -> Array:
        """Return the elements as numpy's array, which shares their memory."""
        return self.of_lua.array

    @property
    def sizes(self) -> Shape:
        """Return the number of elements in each dimension."""
        return self.of_lua.sizes or (0,)

    @property
    def size_object(self) -> Size:
        """Return the sizes as PyTorch's programs see them."""
        return size_of(self.sizes)

    @property
    def strides(self) -> Shape:
        """Return, for each dimension, the distance of neighbouring elements in the storage."""
        return self.of_lua.strides or (1,)

    @property
    def offset(self) -> int:
        """Return the position of the first element in the storage."""
        return self.of_lua.offset if self.of_lua.sizes else 0

    @property
    def place(self) -> int:
        """Return the offset of the first element in the storage's memory, in bytes."""
        return self.offset * self.of_lua.dtype.size

    @property
    def storage_object(self) -> Storage:
        """Return the runtime's storage, which all tensors that share memory have in common."""
        storage = self.of_lua.storage
        if storage is None:
            storage = self.of_lua.storage_class.new()
            self.of_lua.set(storage, 0, (), ())
        return storage

    def set_view(self, storage: Storage, place: int, sizes: Shape, strides: Shape) -> None:
        """Make this tensor, and so Lua's, another view. Raises RuntimeError where Lua has none."""
        kind = self.of_lua.dtype
        if storage.dtype is not kind:
            raise RuntimeError(f"a {kind.tensor_name} of Lua cannot have other elements")
        steps = tuple([step // kind.size for step in strides])
        self.of_lua.set(storage, place // kind.size, *_as_lua_has_them(sizes, steps))

    def become(self, tensor: Tensor) -> None:
        """Take over another tensor's view and storage."""
        width = self.of_lua.dtype.size
        strides = tuple([step * width for step in tensor.strides])
        self.set_view(tensor.storage_object, tensor.offset * width, tensor.sizes, strides)


# What programs see of it is the class of all tensors.
SharedTensor.__name__ = SharedTensor.__qualname__ = "Tensor"


def _as_lua_has_them(sizes: Shape, strides: Shape) -> tuple[Shape, Shape]:
    """Return sizes and strides of Lua's tensor for a view."""
    if 0 in sizes:
        return (), ()
    return (sizes, strides) if sizes else ((1,), (1,))


def from_lua(tensor: LuaTensor) -> Tensor:
    """Return the tensor of Python for one of Lua's, whose geometry and memory it has."""
    shared = _new(SharedTensor)
    shared.of_lua = tensor
    # numpy's array gives the type only; the storage is asked of Lua's tensor each time.
    shared._array = np.empty(0, tensor.dtype.numpy)
    shared._storage = shared._size = None
    return shared


def to_lua(tensor: Tensor) -> LuaTensor:
    """Return the tensor of Lua for one of Python's, with the same memory.

    A tensor of bool becomes a ByteTensor. Raises TypeError for element types that Lua lacks.
    """
    if isinstance(tensor, SharedTensor):
        return tensor.of_lua
    storage = _storage_for_lua(tensor)
    sizes, strides = _as_lua_has_them(tensor.sizes, tensor.strides)
    tensor_class = TENSOR_CLASSES[storage.dtype.index]
    return tensor_class(storage, tensor.offset, sizes, strides)


def _storage_for_lua(tensor: Tensor) -> Storage:
    storage, kind = tensor.storage_object, tensor.dtype.numpy
    element_type: Any = BYTE if kind == np.bool_ else getattr(storage_type(kind), "dtype", None)
    if element_type not in DTYPES:
        raise TypeError(f"Torch7 has no tensors of {tensor.dtype!r}")
    if storage.dtype is element_type:
        return storage
    data = storage.data.view(np.uint8).view(element_type.numpy)
    shared: Storage = STORAGE_CLASSES[element_type.index](data, storage)
    return shared
