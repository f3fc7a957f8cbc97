"""Storages as PyTorch's programs see them: of typed elements, and of bytes.

Both stand for one of the runtime's storages (`core/storage.py`), which Lua has as well. As in
PyTorch a typed storage is made anew each time that it is asked for, and one of bytes is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.pickles import makes, restored
from th_shell.runtime.core.storage import Storage
from th_shell.torch.base.device import CPU, device
from th_shell.torch.base.dtypes import default_dtype, uint8
from th_shell.torch.base.dtypes import dtype as DType
from th_shell.torch.tensors.printing import storage_text
from th_shell.torch.tensors.tensor import resize_storage, storage_type
from th_shell.torch.tensors.writing import cast

_known: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()


class _Storage:
    """Base of both classes: a one-dimensional array of elements."""

    __slots__ = ("__weakref__", "object")

    def __init__(self, storage: Storage) -> None:
        self.object = storage

    @property
    def array(self) -> Array:
        """Return the elements as numpy's array, which shares their memory."""
        return self.object.data

    @property
    def device(self) -> device:
        """Return the device that has the elements: the processor."""
        return CPU

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            kind = f"torch.storage.{type(self).__name__}"
            raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __len__(self) -> int:
        return len(self.array)

    def size(self) -> int:
        """Return the number of elements."""
        return len(self.array)

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self.array.nbytes)

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return int(self.array.itemsize)

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 where there is none."""
        return address_of(self.array) if len(self.array) else 0

    def tolist(self) -> list[Any]:
        """Return the elements as Python's numbers."""
        numbers: list[Any] = self.array.tolist()
        return numbers

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def fill_(self, value: Any) -> Any:
        """Set all elements to a number."""
        self.array[...] = cast(np.asarray(value), self.array.dtype)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Any:
        """Take over another storage's elements, converted. Raises RuntimeError for another size."""
        values = source.array
        if len(values) != len(self.array):
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        self.array[...] = cast(values, self.array.dtype)
        return self

    def __getitem__(self, index: Any) -> Any:
        return self.array[self._position(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        at = index if isinstance(index, slice) else self._position(index)
        self.array[at] = cast(np.asarray(value), self.array.dtype)

    def _position(self, index: Any) -> int:
        if not isinstance(index, (int, np.integer)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        size = len(self.array)
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return int(index) % size


class UntypedStorage(_Storage):
    """The bytes of a storage."""

    __slots__ = ()
    __module__ = "torch.storage"

    def __init__(self, content: Storage | int | Iterable[Any] = 0) -> None:
        """Make a storage of one of the runtime's, of a number of zeros, or of numbers."""
        super().__init__(content if isinstance(content, Storage) else _new(content, uint8))

    @property
    def array(self) -> Array:
        """Return the bytes."""
        return self.object.data.view(np.uint8)

    def __repr__(self) -> str:
        return storage_text(self.array, "torch.storage.UntypedStorage(device=cpu)")

    def resize_(self, size: int) -> UntypedStorage:
        """Change the number of bytes, which has to be one of whole elements."""
        width = self.object.data.itemsize
        if size % width:
            raise NotImplementedError(f"{size} bytes are no whole elements of {width} bytes")
        resize_storage(self.object, size // width)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, (int, np.integer)):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type(value).__name__} "
                f"instead"
            )
        super().__setitem__(index, value)

    def clone(self) -> UntypedStorage:
        """Return a copy."""
        return untyped(_copy(self.object))

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        return untyped(copied(self.object, memo))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        data = self.object.data
        content = PickleBuffer(data.data) if protocol >= 5 else data.tobytes()
        return restored, ("UntypedStorage", data.dtype.name, content)


class TypedStorage(_Storage):
    """A storage's elements, all of one type."""

    __slots__ = ("_dtype",)
    __module__ = "torch.storage"

    def __init__(self, content: Storage | int | Iterable[Any] = 0, *, dtype: Any = None) -> None:
        """Make a storage of one of the runtime's, of a number of zeros, or of numbers."""
        self._dtype: DType = dtype or default_dtype()
        super().__init__(content if isinstance(content, Storage) else _new(content, self._dtype))

    @property
    def array(self) -> Array:
        """Return the elements."""
        data = self.object.data
        kind = self._dtype.numpy
        return data if data.dtype == kind else data.view(np.uint8).view(kind)

    @property
    def dtype(self) -> DType:
        """Return the element type."""
        return self._dtype

    def __repr__(self) -> str:
        kind = f"torch.storage.TypedStorage(dtype={self.dtype}, device=cpu)"
        return storage_text(self.array, kind)

    def untyped(self) -> UntypedStorage:
        """Return the bytes."""
        return untyped(self.object)

    def resize_(self, size: int) -> None:
        """Change the number of elements; the first ones keep their values."""
        width = self.object.data.itemsize
        resize_storage(self.object, size * self._dtype.itemsize // width)

    def clone(self) -> TypedStorage:
        """Return a copy."""
        return TypedStorage(_copy(self.object), dtype=self._dtype)

    def type(self) -> str:
        """Return the name of the class of such storages: 'torch.FloatStorage'."""
        return f"torch.{self._dtype.scalar}Storage"

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, (int, float, np.generic)) and not hasattr(value, "__array__"):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a torch.{self._dtype.scalar}Tensor"
            )
        super().__setitem__(index, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return TypedStorage(copied(self.object, memo), dtype=self._dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, ("TypedStorage", self.untyped(), self._dtype)


def _new(content: int | Iterable[Any], kind: DType) -> Storage:
    values = np.zeros(content) if isinstance(content, int) else np.asarray(list(content))
    return storage_type(kind.numpy)(cast(values, kind.numpy))


def _copy(storage: Storage) -> Storage:
    return type(storage)(storage.data.copy())


def copied(storage: Storage, memo: dict[int, Any]) -> Storage:
    """Return a storage's copy for copy.deepcopy: one for all that refer to it."""
    copy: Storage | None = memo.get(id(storage))
    if copy is None:
        copy = memo[id(storage)] = _copy(storage)
    return copy


@makes("UntypedStorage")
def _restore(kind: str, data: Any) -> UntypedStorage:
    values = np.frombuffer(data, kind).copy()
    return untyped(storage_type(values.dtype)(values))


@makes("TypedStorage")
def _restore_typed(storage: UntypedStorage, kind: DType) -> TypedStorage:
    return TypedStorage(storage.object, dtype=kind)


def untyped(storage: Storage) -> UntypedStorage:
    """Return the object that stands for a storage's bytes."""
    storage_bytes = _known.get(id(storage))
    if storage_bytes is None:
        storage_bytes = _known[id(storage)] = UntypedStorage(storage)
    return storage_bytes
