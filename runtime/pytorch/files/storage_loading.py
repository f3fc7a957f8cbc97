"""Storages of files that are read: their memory, their elements, and the devices they were on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.storage import Storage
from th_shell.torch.base.dtypes import dtype
from th_shell.torch.calls.device import device
from th_shell.torch.classes.storages import TypedStorage, UntypedStorage, untyped
from th_shell.torch.files.unpickling import DAMAGED, StorageKind
from th_shell.torch.tensors.tensor import storage_type
from th_shell.torch.tensors.unprovided import memory_of

#: Puts a storage where it is to be, of which a text tells where it was; returns it.
Place = Callable[[UntypedStorage, str], Any]
_PIECE = 1 << 24  # bytes that are read at a time


def placing(map_location: Any) -> Place:
    """Return the function for `map_location`: a device, devices by their names, or a function."""
    if map_location is None:
        return _on_processor
    if isinstance(map_location, Mapping):
        return lambda storage, location: _on_processor(
            storage, map_location.get(location, location)
        )
    if isinstance(map_location, (str, bytes, device)):
        where = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, _: _on_processor(storage, where)
    return lambda storage, location: (
        map_location(storage, location) or _on_processor(storage, location)
    )


def _on_processor(storage: UntypedStorage, location: str) -> UntypedStorage:
    if location.startswith("cpu"):
        return storage
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    raise RuntimeError(
        f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location})"
    )


def text(value: Any) -> str:
    """Return a text of a pickle, which Python 2 may have written as bytes."""
    if not isinstance(value, (str, bytes)):
        raise UnpicklingError(f"{DAMAGED}: {value!r} is no text")
    return value.decode() if isinstance(value, bytes) else value


def checked(kind: Any, count: Any, most: int) -> dtype:
    """Return the type of a storage's elements. most: as many bytes as the file has for them."""
    if type(kind) is not StorageKind or type(count) is not int:
        raise UnpicklingError(f"{DAMAGED}: a storage of {count!r} elements of {kind!r}")
    if not 0 <= count * kind.elements.itemsize <= most:
        raise UnpicklingError(f"{DAMAGED}: it has no {count} elements of {kind.elements!r}")
    return kind.elements


def new_storage(kind: dtype, count: int) -> Storage:
    """Return a storage of undetermined elements."""
    memory, size = memory_of(kind, count)
    return storage_type(memory).new(size)


def placed(storage: Storage, kind: dtype, location: str, place: Place) -> TypedStorage:
    """Return the typed storage of loaded elements, where `place` puts it."""
    return TypedStorage(place(untyped(storage), location).object, dtype=kind)


def fill(file: IO[bytes], data: Array, swap: bool = False) -> None:
    """Read elements from where a file stands. swap: they have the other order of bytes."""
    view = data.view(np.uint8).data
    at = 0
    while at < len(view):
        done = _read_into(file, view[at : at + _PIECE])
        if not done:
            raise EOFError
        at += done
    if swap:
        data.byteswap(inplace=True)


def _read_into(file: Any, view: memoryview) -> int:
    if hasattr(file, "readinto"):
        return int(file.readinto(view))
    part = file.read(len(view))
    view[: len(part)] = part
    return len(part)
