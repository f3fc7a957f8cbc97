"""torch.save: writes a value to a zip file, as PyTorch does since 1.6.

The zip file has a pickle, and a file for the elements of each storage. Nothing is compressed.
Below one folder stand data.pkl, the pickle, and data/0, data/1 …, whose bytes begin at multiples of
64, so that they can be mapped into memory. The pickle names PyTorch's functions and classes, which
need not be there: so it is Python's own pickler, not the one in C, that can write any name.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from th_shell.runtime.core.pickles import restored
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.io.replacement import Replacement
from th_shell.torch.base.device import device
from th_shell.torch.base.dtypes import dtype, layout, uint8
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, Size
from th_shell.torch.tensors.storages import TypedStorage, UntypedStorage
from th_shell.torch.tensors.tensor import Tensor

_PIECE = 1 << 24  # bytes of a storage that are written at a time


class Elements(NamedTuple):
    """The elements of a storage, which go into a file by themselves.

    size: how many there are. parts: gives their bytes, little-endian, one after the other.
    """

    kind: dtype
    size: int
    parts: Callable[[], Iterable[Any]]

    @property
    def nbytes(self) -> int:
        """Return the number of bytes of all elements."""
        return self.size * self.kind.itemsize


@dataclass(eq=False)
class View:
    """A tensor to be written: a view of elements."""

    elements: Elements
    #: The position of the first element.
    offset: int
    sizes: Shape
    #: Elements from one to the next, for each dimension.
    strides: Shape


class _Name(NamedTuple):
    """A function or a class of PyTorch's, which the pickle names."""

    module: str
    name: str

    def __call__(self) -> NoReturn:  # what makes objects must be callable to be pickled
        raise NotImplementedError


_name = lru_cache(_Name)  # one object for each, which a pickle then names once


class Pickler(pickle._Pickler):
    """Pickles a value; `stored` has the elements of its tensors, by their numbers in the pickle."""

    write: Callable[[bytes], object]
    memoize: Callable[[Any], None]

    def __init__(self, file: IO[bytes], protocol: int = 2) -> None:
        super().__init__(file, protocol)
        self.stored: list[Elements] = []
        self._numbers: dict[int, int] = {}
        self._of_storages: dict[int, Elements] = {}

    def persistent_id(self, obj: Any) -> Any:
        """Return a storage's class, number, device and size for the pickle.

        None for other objects.
        """
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            obj = self._elements(obj.object, obj.dtype if isinstance(obj, TypedStorage) else uint8)
        elif type(obj) is not Elements:
            return None
        number = self._numbers.setdefault(id(obj), len(self.stored))
        if number == len(self.stored):
            self.stored.append(obj)
        kind = _name("torch", f"{obj.kind.scalar}Storage")
        return "storage", kind, str(number), "cpu", obj.size

    def _elements(self, storage: Storage, kind: dtype) -> Elements:
        """Return a storage's elements.

        Raises RuntimeError where it was saved as another type before.
        """
        elements = self._of_storages.get(id(storage))
        if elements is None:
            nbytes = storage.size * storage.dtype.size
            elements = Elements(kind, nbytes // kind.itemsize, lambda: _parts(storage))
            self._of_storages[id(storage)] = elements
        if elements.kind is not kind:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        return elements

    def reducer_override(self, obj: Any) -> Any:
        """Return the call that makes an object again, or its name."""
        reduce = _REDUCERS.get(type(obj))
        if reduce is not None:
            return reduce(obj)
        if isinstance(obj, Tensor):
            elements = self._elements(obj.storage_object, obj.dtype)
            rebuild = _rebuild(View(elements, obj.offset, obj.sizes, obj.strides))
            return _with_attributes(rebuild, vars(obj)) if vars(obj) else rebuild
        if obj is restored:  # which PyTorch does not have
            raise pickle.PicklingError(
                "of torch's objects torch.save takes tensors, storages, sizes, types, layouts and "
                "devices alone"
            )
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name: of PyTorch's as it is, of the program's where it is found."""
        if isinstance(obj, dtype):
            obj = _name("torch", obj.name)
        if isinstance(obj, _Name):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)
        else:
            super().save_global(obj, name)  # type: ignore[misc]  # which typeshed does not know


def _parts(storage: Storage) -> Iterator[memoryview]:
    step = _PIECE // storage.dtype.size
    for at in range(0, storage.size, step):
        yield storage.part(at, min(at + step, storage.size)).view(np.uint8).data


def _rebuild(view: View) -> tuple[Any, ...]:
    args = (view.elements, view.offset, tuple(view.sizes), tuple(view.strides), False)
    return _name("torch._utils", "_rebuild_tensor_v2"), (*args, OrderedDict())


def _with_attributes(rebuild: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[Any, ...]:
    function, args = rebuild
    arguments = (function, _name("torch", "Tensor"), args, attributes)
    return _name("torch._tensor", "_rebuild_from_type_v2"), arguments


_REDUCERS: dict[type, Callable[[Any], Any]] = {
    View: _rebuild,
    _Name: lambda name: name.name,
    dtype: lambda kind: kind.name,
    Size: lambda sizes: (_name("torch", "Size"), (tuple(sizes),)),
    device: lambda at: (
        _name("torch", "device"),
        (at.type, at.index)[: 1 + (at.index is not None)],
    ),
    layout: lambda value: (_name("torch.serialization", "_get_layout"), (repr(value),)),
}


# -- the archive

_ROOT = "archive"
_ALIGNMENT = 64
_PADDING_FIELD = 0x4246  # the extra field of a file's header in which the padding stands ("FB")
HEADER = 30  # bytes before the name in a file's header
_LARGE_FIELD = 20  # bytes of the extra field that the headers of large files have besides
_DATE = (1980, 1, 1, 0, 0, 0)


def write_archive(file: IO[bytes], value: Any, protocol: int = 2) -> None:
    """Write a value with its tensors."""
    pickled = io.BytesIO()
    pickler = Pickler(pickled, protocol)
    pickler.dump(value)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_info(archive, "data.pkl"), pickled.getvalue())
        archive.writestr(_info(archive, "byteorder"), b"little")
        for number, elements in enumerate(pickler.stored):
            is_large = elements.nbytes * 1.05 > zipfile.ZIP64_LIMIT
            info = _info(archive, f"data/{number}", is_large)
            with archive.open(info, "w", force_zip64=is_large) as out:
                for part in elements.parts():
                    out.write(part)
        archive.writestr(_info(archive, "version"), b"3\n")


def _info(archive: zipfile.ZipFile, name: str, is_large: bool = False) -> zipfile.ZipInfo:
    """Return a file's header; its length is such that the bytes behind it are aligned."""
    info = zipfile.ZipInfo(f"{_ROOT}/{name}", _DATE)
    assert archive.fp is not None
    start = archive.fp.tell() + HEADER + len(info.filename) + 4 + is_large * _LARGE_FIELD
    padding = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + b"Z" * padding
    return info


def save(
    obj: Any,
    f: str | os.PathLike[str] | IO[bytes],
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object with its tensors to a file, which `load`, and PyTorch, can read.

    f: a path, whose file is replaced when the new one is complete, or a binary file object. What
    shares memory does so in the file. Raises OSError where the file cannot be written, and
    RuntimeError for tensors of several types that share memory.
    """
    wrong = "torch.save writes with Python's pickle alone: leave pickle_module out"
    require(pickle_module is pickle, wrong, error=NotImplementedError)
    old = "torch.save writes zip files alone, which PyTorch reads since 1.6"
    require(_use_new_zipfile_serialization, old, error=NotImplementedError)
    if isinstance(f, (str, os.PathLike)):
        with Replacement(os.fsencode(f)) as replacement:
            with open(replacement.descriptor, "r+b", closefd=False) as file:
                write_archive(file, obj, pickle_protocol)
    elif hasattr(f, "write"):
        write_archive(f, obj, pickle_protocol)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
