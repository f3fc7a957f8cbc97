"""``Tensor``: a view of a storage as PyTorch's programs see it; and the storages of all types.

The storage is the runtime's (`core/storage.py`): a tensor that came from Lua, or goes there, has
the same memory on both sides. The view itself, which is offset, sizes and strides, is kept as
numpy's array, since that is what operations compute on. Unlike Torch7's a tensor may have no
dimension, or sizes of 0.

A new tensor has an array alone. It gets a storage when something needs one: a view of it, or a
program that asks for it. From then on the storage decides where the memory is.

The operations are no part of this module: `table.py` makes methods of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from th_shell.runtime.core.dtypes import DTYPES, Array, DType
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage, storage_class
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.dtypes import NUMPY_DTYPES, dtype
from th_shell.torch.base.missing import MISSING, why_missing
from th_shell.torch.base.shapes import Shape, Size, listed, size_of

#: The element type that Lua does not have. Lua sees the memory of a bool storage as bytes.
_BOOL = DType("Bool", "bool", np.dtype(np.bool_), 8)
_CLASSES: dict[np.dtype[Any], type[Storage]] = {
    **{t.numpy: c for t, c in zip(DTYPES, STORAGE_CLASSES, strict=True)},
    _BOOL.numpy: storage_class(_BOOL),
}


def storage_type(kind: np.dtype[Any]) -> type[Storage]:
    """Return the class of storages whose elements have one of numpy's types."""
    return _CLASSES[kind]


def resize_storage(storage: Storage, count: int) -> None:
    """Change a storage's number of elements. Raises RuntimeError where its memory is another's."""
    try:
        storage.resize(count)
    except TorchError as error:
        raise RuntimeError(str(error)) from None


def storage_over(array: Array, owner: Any = None) -> Storage:
    """Return a new storage over the memory from an array's first element to its last one.

    owner: whose memory it is; the storage cannot be resized then.
    """
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
    else:
        width = array.itemsize
        steps = zip(array.shape, array.strides, strict=True)
        count = 1 + sum((n - 1) * step for n, step in steps) // width
        flat = as_strided(array, (count,), (width,))
    return storage_type(array.dtype)(flat, owner)


_new = object.__new__
_asarray, _ndarray = np.asarray, np.ndarray


class Tensor:
    """Elements of one type, in the order of their indices.

    array: numpy's array of the elements, which shares their memory.
    """

    __slots__ = ("__dict__", "__weakref__", "_array", "_memory", "_size", "_storage")
    __module__ = "torch"

    _array: Array
    _storage: Storage | None
    _memory: Array  # the storage's data when _array was made
    _size: Size | None  # that of _array, once it was asked for

    if TYPE_CHECKING:  # what `calls/table.py` adds

        def __getattr__(self, name: str) -> Any: ...

    @property
    def array(self) -> Array:
        """Return the elements as numpy's array, which shares their memory."""
        storage = self._storage
        if storage is None or storage.data is self._memory:
            return self._array
        return self._follow(storage)

    def _follow(self, storage: Storage) -> Array:
        """Make the array anew, since the storage has moved."""
        self.set_view(storage, self.place, self._array.shape, self._array.strides)
        return self._array

    @property
    def storage_object(self) -> Storage:
        """Return the runtime's storage, which all tensors that share memory have in common."""
        if self._storage is None:
            storage = storage_over(self._array)
            self._memory = storage.data  # before the storage, of which other threads may know
            self._storage = storage
        return self._storage

    def set_view(self, storage: Storage, place: int, sizes: Shape, strides: Shape) -> None:
        """Make this tensor another view. place and strides count bytes, place from the start.

        Raises RuntimeError where the storage is too small.
        """
        data = storage.data
        kind = self._array.dtype
        _check_reach(data, kind, place, sizes, strides)
        if 0 in sizes:
            place = 0  # numpy wants even an empty array to begin within the memory
        array: Array = np.ndarray(sizes, kind, data, place, strides)
        self._array, self._memory, self._storage, self._size = array, data, storage, None

    def become(self, tensor: Tensor) -> None:
        """Take over another tensor's view, storage and type."""
        storage = tensor.storage_object
        self._array, self._memory, self._storage = tensor.array, storage.data, storage
        self._size = None

    def __dir__(self) -> list[str]:
        """Return the names of PyTorch's that it has, without those of the runtime's."""
        return sorted(set(object.__dir__(self)) - _OWN)

    def __init_subclass__(cls, is_internal: bool = False, **options: Any) -> None:
        """Refuse classes of programs, whose instances operations would not return."""
        super().__init_subclass__(**options)
        if not is_internal:
            raise NotImplementedError("classes derived from torch.Tensor are not provided here")

    # -- geometry

    @property
    def dtype(self) -> dtype:
        """Return the element type."""
        return NUMPY_DTYPES[self._array.dtype]

    @property
    def sizes(self) -> Shape:
        """Return the number of elements in each dimension."""
        sizes: Shape = self._array.shape
        return sizes

    @property
    def size_object(self) -> Size:
        """Return the sizes as PyTorch's programs see them."""
        size = self._size
        if size is None:
            self._size = size = size_of(self._array.shape)
        return size

    @property
    def strides(self) -> Shape:
        """For each dimension the elements of the storage from one element to the next."""
        array = self._array
        if not array.size and not any(array.strides):  # numpy's of a new array
            return contiguous_strides(array.shape)
        return _in_elements(array.strides, array.itemsize)

    @property
    def offset(self) -> int:
        """Return the position of the first element in the storage."""
        return self.place // self._array.itemsize

    @property
    def place(self) -> int:
        """The offset of the first element in the storage's memory, in bytes."""
        assert self.storage_object is not None  # which has set _memory
        memory = self._memory
        place = address_of(self._array) - address_of(memory)
        return place if 0 <= place <= memory.nbytes else 0  # numpy may put an empty one elsewhere


#: What is the runtime's in the class, not PyTorch's.
_OWN = {name for name in vars(Tensor) if not name.startswith("__")} - {"dtype"}


@lru_cache(maxsize=1024)
def _in_elements(strides: Shape, width: int) -> Shape:
    """Return numpy's strides, which count bytes, in elements of so many bytes."""
    return tuple([step // width for step in strides])


def _check_reach(data: Array, kind: Any, place: int, sizes: Shape, strides: Shape) -> None:
    if 0 in sizes:
        return
    if place < 0 or min(strides, default=0) < 0:  # only pickles can have these
        raise RuntimeError(f"Tensor: invalid storage offset {place // kind.itemsize}")
    needed = (
        place + kind.itemsize + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    )
    if needed > data.nbytes:
        width = kind.itemsize
        steps = [step // width for step in strides]
        raise RuntimeError(
            f"setStorage: sizes {listed(sizes)}, strides {listed(steps)}, storage offset "
            f"{place // width}, and itemsize {width} requiring a storage size of {needed} are out "
            f"of bounds for storage of size {data.nbytes}"
        )


def wrap(array: Any) -> Tensor:
    """Return a tensor of an array, or of the number that numpy makes of one without dimensions.

    The tensor shares the array's memory.
    """
    tensor = _new(Tensor)
    tensor._array = array if array.__class__ is _ndarray else _asarray(array)
    tensor._storage = tensor._size = None
    return tensor


def view_of(tensor: Tensor, array: Array) -> Tensor:
    """Return a tensor that views the same storage; array is a view of the tensor's array."""
    view = _new(Tensor)
    view._array, view._size = array, None
    view._storage = storage = tensor._storage or tensor.storage_object
    view._memory = storage.data
    return view


# -- attributes that are not there


class _Missing:
    """An attribute that tensors lack on purpose: the error tells why.

    A `__getattr__` of the class would make Python slower at finding what is there.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Tensor | None, _: type[Tensor]) -> None:
        what = "'Tensor' object" if tensor is not None else "type object 'Tensor'"
        text = f"{what} has no attribute '{self._name}'{why_missing(self._name)}"
        raise AttributeError(text, name=self._name, obj=tensor)


def finish_attributes() -> None:
    """Tell of names that are missing why."""
    missing = MISSING.keys() - vars(Tensor).keys()
    _OWN.update(missing)  # so that dir() does not have them
    for name in missing:
        setattr(Tensor, name, _Missing(name))
