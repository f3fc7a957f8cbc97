"""``Tensor``: storage + offset + sizes + strides, and the rules of its views.

A tensor's geometry is changed here and nowhere else, and every change is written to its mirror,
the C struct that Lua reads. Dimensions, indices and offsets are counted from 0 here and from 1
in Lua; the functions that read a call's arguments convert them. The argument positions of errors
(``ArgError``) are those of the Lua method, whose self is 1.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.core.c_structs import ROOM, TENSOR, Flag
from th_shell.runtime.core.dtypes import DTYPES, EXACT, LONG, Array, DType, cast_scalar
from th_shell.runtime.core.errors import ArgError, StorageExceeded, TorchError
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.memory import SLOTS
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage

Sizes = tuple[int, ...]

# Behind the mirror's members is room for sizes and strides. Each number of dimensions has a Struct
# of its own, which writes all of the mirror in one call.
_HEAD_SIZE = TENSOR.size
_MIRRORS = [struct.Struct(f"{TENSOR.format}{n}q{8 * (ROOM - n)}x{n}q") for n in range(ROOM + 1)]
_REFCOUNTED = int(Flag.REFCOUNTED)


@lru_cache(maxsize=4096)
def contiguous_strides(sizes: Sizes) -> Sizes:
    """Return the strides, in elements, of a contiguous tensor: its last dimension varies fastest.

    A size of 0, which PyTorch's tensors may have, counts as 1.
    """
    strides = [1] * len(sizes)
    for d in range(len(sizes) - 2, -1, -1):
        strides[d] = strides[d + 1] * max(sizes[d + 1], 1)
    return tuple(strides)


def check_dimensions(count: int) -> None:
    """Raise TorchError for more dimensions than numpy's arrays can have."""
    if count > 64:
        raise TorchError(f"a tensor of {count} dimensions: no operation takes more than 64")


def describe(sizes: Sequence[int]) -> str:
    """Return sizes as the reference's messages print them: '[2 x 3]'."""
    return "[" + " x ".join(map(str, sizes)) + "]"


def fits_storage(storage: Storage, offset: int, sizes: Sizes, strides: Sizes) -> bool:
    """Tell whether a geometry, which may come from a file, is that of elements of a storage."""
    if offset < 0 or min(sizes) < 1 or min(strides) < 0:
        return False
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return offset + reach < storage.size and prod(sizes) <= EXACT


class Tensor:
    """A view of a storage.

    storage: None for a tensor that never had one.
    offset: the position of the first element in the storage, from 0.
    sizes, strides: for each dimension the number of elements, and the distance in the storage, in
    elements, from one element to the next. Both are empty for an empty tensor.
    """

    __slots__ = (
        "_array",
        "_contiguous",
        "_memory",
        "_mirror",
        "_overlaps",
        "_slot",
        "offset",
        "refcount",
        "sizes",
        "storage",
        "strides",
    )

    # Both are attributes of the class.
    dtype: DType
    storage_class: type[Storage]

    @uninterruptible
    def __init__(
        self,
        storage: Storage | None = None,
        offset: int = 0,
        sizes: Sizes = (),
        strides: Sizes = (),
    ) -> None:
        """Take a geometry without any check: the caller has validated it."""
        self.storage = storage
        self.offset = offset
        self.sizes = sizes
        self.strides = strides
        self.refcount = 1
        # The array that `array` made last; it is valid while _memory is still the storage's data.
        self._array: Array | None = None
        self._memory: Array | None = None
        self._overlaps: bool | None = None
        self._contiguous: bool | None = None
        self._slot: Any = None
        self._mirror: Any = None

    @classmethod
    def new(cls, sizes: Sizes = ()) -> Tensor:
        """Return a contiguous tensor of undetermined elements."""
        tensor = cls()
        tensor.resize(sizes)
        return tensor

    @classmethod
    def of(cls, values: Array) -> Tensor:
        """Return a contiguous tensor of an array's elements.

        values has the class's element type. A contiguous array becomes the tensor's memory, so
        nothing else may use it.
        """
        tensor = cls()
        if values.size:
            tensor.take_over(np.ascontiguousarray(values))
        return tensor

    def take_over(self, values: Array) -> None:
        """Make a contiguous array of the element type, which nothing else uses, the memory."""
        storage = self.storage_class.of(values.reshape(-1))
        self.set(storage, 0, values.shape, contiguous_strides(values.shape))
        self._overlaps, self._contiguous = False, True

    def __del__(self) -> None:
        if self._slot is not None:
            SLOTS.release(self._slot)

    # -- queries

    @property
    def ndim(self) -> int:
        """Return the number of dimensions; 0 for an empty tensor."""
        return len(self.sizes)

    @property
    def nelement(self) -> int:
        """Return the number of elements."""
        return prod(self.sizes) if self.sizes else 0

    @property
    def is_contiguous(self) -> bool:
        """Tell whether the elements follow each other in the storage in the order of their indices.

        The stride of a dimension of size 1 does not matter.
        """
        if self._contiguous is None:
            expected = 1
            self._contiguous = True
            for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
                if size != 1:
                    self._contiguous &= stride == expected
                    expected *= size
        return self._contiguous

    @property
    def overlaps_itself(self) -> bool:
        """Tell whether two elements may be the same element of the storage."""
        if self._overlaps is None:
            reach = 0
            self._overlaps = False
            for stride, size in sorted(zip(self.strides, self.sizes, strict=True)):
                if size > 1:
                    self._overlaps |= stride <= reach
                    reach += (size - 1) * stride
        return self._overlaps

    def is_set_to(self, tensor: Tensor) -> bool:
        """Tell whether both are the same view of the same storage."""
        return (
            self.storage is not None
            and self.storage is tensor.storage
            and self.offset == tensor.offset
            and self.sizes == tensor.sizes
            and self.strides == tensor.strides
        )

    @property
    def array(self) -> Array:
        """Return the elements as a numpy array of shape ``sizes`` that shares the storage's memory.

        An empty tensor gives an array of shape (0,). Raises StorageExceeded where the storage has
        become too small.
        """
        if self._array is not None and self.storage.data is self._memory:  # type: ignore[union-attr]
            return self._array
        data = self._data()
        if not len(data):
            return data
        if len(self.sizes) == 1 and self.strides == (1,):
            array = data[self.offset : self.offset + self.sizes[0]]
        else:
            check_dimensions(len(self.sizes))
            width = data.itemsize
            strides = tuple([s * width for s in self.strides])
            array = np.ndarray(self.sizes, data.dtype, data, self.offset * width, strides)
        self._array, self._memory = array, data
        return array

    @property
    def flat(self) -> Array:
        """Return the elements in order as a one-dimensional array.

        It shares the storage's memory if the tensor is contiguous or has one dimension.
        """
        if len(self.sizes) == 1:
            return self.array
        if self.is_contiguous:
            return self._data()[self.offset : self.offset + self.nelement]
        return self.array.reshape(-1)

    def _data(self) -> Array:
        """Return the storage's data, which reaches to the tensor's last element."""
        if not self.sizes or self.storage is None:
            return np.empty(0, self.dtype.numpy)
        data = self.storage.data
        needed = self.offset + 1
        for size, stride in zip(self.sizes, self.strides):  # noqa: B905 (strict= takes time)
            needed += (size - 1) * stride
        if needed > len(data):
            raise StorageExceeded(self.sizes, needed, len(data))
        return data

    # -- geometry

    @uninterruptible
    def set(self, storage: Storage | None, offset: int, sizes: Sizes, strides: Sizes) -> None:
        """Make this tensor another view; the caller has validated the geometry."""
        if storage is not None and storage.dtype is not self.dtype:
            raise TypeError(f"{self.dtype.tensor_name} on a {storage.dtype.storage_name}")
        self.storage = storage
        self.offset = offset
        self.sizes = sizes
        self.strides = strides
        self._array = self._overlaps = self._contiguous = None
        if self._slot is not None:
            self._write_mirror()

    def set_to(self, tensor: Tensor) -> None:
        """Make this tensor the view that another one is.

        Torch7: enlarges the storage where it has become too small for it.
        """
        needed = tensor.offset
        for size, stride in zip(tensor.sizes, tensor.strides):  # noqa: B905 (strict= takes time)
            needed += (size - 1) * stride
        if tensor.storage is None or not tensor.sizes or needed >= tensor.storage.size:
            self.set_checked(tensor.storage, tensor.offset, tensor.sizes, tensor.strides)
        else:
            self.set(tensor.storage, tensor.offset, tensor.sizes, tensor.strides)

    def set_checked(
        self, storage: Storage | None, offset: int, sizes: Sizes, strides: Sizes | None = None
    ) -> None:
        """Make this tensor a view of a storage, which is enlarged where it is too small.

        Sizes from the first one that is not positive are left out. A negative stride stands for
        the one that makes its dimension contiguous. offset counts elements from 0.
        Manual: Tensor, set(storage, [storageOffset, sizes, [strides]]).
        """
        if offset < 0:
            raise TorchError("Tensor: invalid storage offset")
        if storage is None and strides is None and not self.sizes:
            self.resize(sizes)
            return
        sizes, resolved = _resolve(sizes, strides)
        if self._has_geometry(sizes, strides):
            resolved = self.strides
        if sizes:
            storage = storage if storage is not None else self.storage_class.new()
            needed = offset + 1 + sum((n - 1) * s for n, s in zip(sizes, resolved, strict=True))
            if needed > storage.size:
                storage.resize(needed)
        self.set(storage, offset, sizes, resolved)

    def resize(self, sizes: Sizes, strides: Sizes | None = None) -> None:
        """Give this tensor other sizes, and strides, as `set_checked` reads them.

        Its storage is enlarged where needed, and never made smaller. Manual: Tensor, resize.
        """
        if self.storage is None and strides is None:
            sizes = sizes if min(sizes, default=1) > 0 else _resolve(sizes, None)[0]
            if not sizes:
                return
            self.set(self.storage_class.new(prod(sizes)), 0, sizes, contiguous_strides(sizes))
            self._overlaps, self._contiguous = False, True
        elif strides is not None or not sizes or min(sizes) <= 0:
            if sizes != self.sizes or strides is not None:
                self.set_checked(self.storage, self.offset, sizes, strides)
        elif sizes != self.sizes:
            storage, needed = self.storage, self.offset + prod(sizes)
            if needed > storage.size:  # type: ignore[union-attr]
                storage.resize(needed)  # type: ignore[union-attr]
            self.set(storage, self.offset, sizes, contiguous_strides(sizes))

    def _has_geometry(self, sizes: Sizes, strides: Sizes | None) -> bool:
        # Torch7: a tensor that already has the wanted sizes, and strides where these are given,
        # keeps its strides, even where `set` makes it a view of another storage.
        if sizes != self.sizes:
            return False
        pairs = zip(strides or (), self.strides, strict=False)
        return all(expected < 0 or expected == stride for expected, stride in pairs)

    def view(self, offset: int, sizes: Sizes, strides: Sizes) -> Tensor:
        """Return a new tensor that views the same storage; the geometry has been validated."""
        return type(self)(self.storage, offset, sizes, strides)

    def alias(self) -> Tensor:
        """Return a new tensor that is the same view."""
        return type(self)(self.storage, self.offset, self.sizes, self.strides)

    def narrow(self, dim: int, start: int, size: int) -> Tensor:
        """Return a view of the elements ``start`` to ``start + size - 1`` of one dimension.

        Raises ArgError where these do not exist. Manual: Tensor, narrow(dim, index, size).
        """
        if not 0 <= dim < self.ndim:
            raise ArgError(2, "out of range")
        if not 0 <= start < self.sizes[dim]:
            raise ArgError(3, "out of range")
        if not 0 < size <= self.sizes[dim] - start:
            raise ArgError(4, "out of range")
        sizes = (*self.sizes[:dim], size, *self.sizes[dim + 1 :])
        return self.view(self.offset + start * self.strides[dim], sizes, self.strides)

    def select(self, dim: int, index: int) -> Tensor:
        """Return a view of the slice at ``index`` of one dimension, without that dimension.

        Raises ArgError where there is none, and for a vector. Manual: Tensor, select(dim, index).
        """
        if self.ndim < 2:
            raise ArgError(1, "cannot select on a vector")
        if not 0 <= dim < self.ndim:
            raise ArgError(2, "out of range")
        if not 0 <= index < self.sizes[dim]:
            raise ArgError(3, "out of range")
        sizes = self.sizes[:dim] + self.sizes[dim + 1 :]
        strides = self.strides[:dim] + self.strides[dim + 1 :]
        return self.view(self.offset + index * self.strides[dim], sizes, strides)

    def transpose(self, dim1: int, dim2: int) -> Tensor:
        """Return a view with two dimensions swapped.

        Raises ArgError where there is no such dimension. Manual: Tensor, transpose(dim1, dim2).
        """
        if not 0 <= dim1 < self.ndim:
            raise ArgError(1, "out of range")
        if not 0 <= dim2 < self.ndim:
            raise ArgError(2, "out of range")
        sizes, strides = list(self.sizes), list(self.strides)
        sizes[dim1], sizes[dim2] = sizes[dim2], sizes[dim1]
        strides[dim1], strides[dim2] = strides[dim2], strides[dim1]
        return self.view(self.offset, tuple(sizes), tuple(strides))

    def unfold(self, dim: int, size: int, step: int) -> Tensor:
        """Return a view of the slices of ``size`` elements of a dimension, ``step`` elements apart.

        The dimension then counts the slices; a new last dimension has a slice's elements.
        Raises ArgError where a number is out of range. Manual: Tensor, unfold(dim, size, step).
        """
        if not self.ndim:
            raise ArgError(1, "cannot unfold an empty tensor")
        if not 0 <= dim < self.ndim:
            raise ArgError(2, "out of range")
        if not 0 <= size <= self.sizes[dim]:
            raise ArgError(3, "out of range")
        if step <= 0:
            raise ArgError(4, "invalid step")
        count = (self.sizes[dim] - size) // step + 1
        sizes = (*self.sizes[:dim], count, *self.sizes[dim + 1 :], size)
        stride = self.strides[dim]
        far = int(cast_scalar(step * stride, LONG))  # which may wrap where it steps nowhere
        strides = (*self.strides[:dim], far, *self.strides[dim + 1 :], stride)
        return self.view(self.offset, sizes, strides)

    def squeeze(self, dim: int | None = None) -> Tensor:
        """Return a view without the dimensions of size 1, or without ``dim`` if its size is 1.

        At least one dimension remains. Manual: Tensor, squeeze([dim]).
        """
        if dim is None:
            dims = [d for d in range(self.ndim) if self.sizes[d] != 1]
            dims = dims or [0][: self.ndim]
        else:
            if not 0 <= dim < self.ndim:
                raise ArgError(2, "dimension out of range")
            drop = self.sizes[dim] == 1 and self.ndim > 1
            dims = [d for d in range(self.ndim) if not (drop and d == dim)]
        sizes = tuple(self.sizes[d] for d in dims)
        strides = tuple(self.strides[d] for d in dims)
        if dim is None and sizes == (1,):
            strides = (1,)
        return self.view(self.offset, sizes, strides)

    # -- the mirror: the C struct that Lua reads

    @uninterruptible
    def mirror(self) -> int:
        """Return the address of the mirror, valid and current as long as this tensor lives."""
        if self._slot is None:
            self._slot = SLOTS.acquire()
            self._write_mirror()
        return int(self._slot[2])

    @uninterruptible
    def mirror_in(self, address: int, keeper: Any) -> None:
        """Keep the mirror in a struct of Lua's, to which programs have a pointer already.

        address: that of memory for a slot. keeper: what keeps it alive.
        """
        if self._slot is not None:
            SLOTS.release(self._slot)
        self._slot = SLOTS.foreign(address, keeper)
        self._write_mirror()

    def _write_mirror(self) -> None:
        buffer, at, address = self._slot[:3]
        storage = self.storage.mirror() if self.storage is not None else 0
        n = len(self.sizes)
        size = address + _HEAD_SIZE
        stride = size + 8 * ROOM
        fields = (n, storage, self.offset, self.refcount, _REFCOUNTED)
        if n <= ROOM:
            _MIRRORS[n].pack_into(buffer, at, size, stride, *fields, *self.sizes, *self.strides)
            return
        # Former arrays are kept as long as the tensor: a loop in Lua may still read them.
        room = np.array(self.sizes + self.strides, np.int64)
        self._mirror = (room, self._mirror)
        size = room.ctypes.data
        struct.pack_into(TENSOR.format, buffer, at, size, size + 8 * n, *fields)

    def count_references(self, change: int) -> None:
        """Add to the reference counter in the mirror; see Storage.count_references."""
        self.refcount = max(self.refcount + change, 0)
        if self._slot is not None:
            self._write_mirror()


def _resolve(sizes: Sequence[int], strides: Sequence[int] | None) -> tuple[Sizes, Sizes]:
    """Return the sizes before the first that is not positive, and strides without negative ones.

    A negative stride, or one that is not given, becomes that of a contiguous dimension.
    """
    count = next((d for d, size in enumerate(sizes) if size <= 0), len(sizes))
    sizes = tuple(sizes[:count])
    full = list(contiguous_strides(sizes))
    if strides is not None:
        for d in range(count - 1, -1, -1):
            if strides[d] >= 0:
                full[d] = strides[d]
            elif d < count - 1:
                full[d] = sizes[d + 1] * full[d + 1]
    return sizes, tuple(full)


def _tensor_class(dtype: DType) -> type[Tensor]:
    members = {
        "__slots__": (),
        "dtype": dtype,
        "storage_class": STORAGE_CLASSES[dtype.index],
        "__doc__": f"{dtype.tensor_name}.",
    }
    return type(f"{dtype.name}Tensor", (Tensor,), members)


#: The tensor classes, in the order of DTYPES.
TENSOR_CLASSES = tuple(_tensor_class(dtype) for dtype in DTYPES)
