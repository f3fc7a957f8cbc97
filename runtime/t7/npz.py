"""Writes what a file holds as .npz: an array for each tensor, storage, number and string.

Arrays are written one after the other, in parts, so that a file may be larger than the memory.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from typing import IO, Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.t7.faces import lua_tensor, storage_of
from th_shell.runtime.t7.sink import elements, parts_of
from th_shell.runtime.t7.values import T7Error
from th_shell.torch.tensors.tensor import Tensor

_SUFFIX = ".npy"
_LONGEST = 0xFFFF  # bytes of a file's name in an archive, whose length has 2 bytes there
_SHOWN = 40  # characters of a name in an error
_DOTS = re.compile(r"(?<![^/\\])\.+(?![^/\\])")  # parts of a path that are dots alone
_EMPTY = re.compile("(?<![^/])(?=/)")  # and parts that are nothing: before a slash, or between two


def write_npz(
    file: IO[bytes], values: Iterable[tuple[str, Any]], progress: Callable[[int], object]
) -> None:
    """Write what `chosen` names. progress: gets the number of bytes that were just written.

    Where two names are the same, the second gets '#2', and so on. Of
    paths, what would lead out of a folder is lines: '__/x' for '../x'.
    Strings that numpy cannot hold as text are arrays of their bytes.

    Raises T7Error for a name that is too long for the format.
    """
    names = _Names()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, item in values:
            if item is None:
                continue
            with archive.open(names.member(name), "w", force_zip64=True) as out:
                _write(out, item, progress)


class _Names:
    """The names of an archive's files, each of which is there once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  # the numbers behind names that were asked for before

    def member(self, name: str) -> str:
        """A new file's name, for an array of a name."""
        name = _inside(name)
        number, unique = self._last.get(name, 1), name
        # numpy finds an array by its name and by its file's: so both are taken.
        while not self._taken.isdisjoint((unique, f"{unique}{_SUFFIX}")):
            number += 1
            unique = f"{name}#{number}"
        self._last[name] = number
        file = f"{unique}{_SUFFIX}"
        self._taken |= {unique, file}
        length = len(file.encode())
        if length > _LONGEST:
            raise T7Error(
                f"the name of an array has {length} bytes ({name[:_SHOWN]}...): .npz has room for "
                f"{_LONGEST}"
            )
        return file


def _inside(name: str) -> str:
    """A name that, as a path, leads to what is in the folder."""
    return _EMPTY.sub("_", _DOTS.sub(lambda found: "_" * len(found[0]), name))


def _write(out: IO[bytes], value: Any, progress: Callable[[int], object]) -> None:
    sizes, kind, parts = _parts(value)
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": sizes}
    np.lib.format.write_array_header_2_0(out, header)
    for part in parts:
        out.write(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        progress(part.nbytes)


def _parts(value: Any) -> tuple[tuple[int, ...], np.dtype[Any], Iterable[Array]]:
    """The sizes of an array, numpy's type of its elements, and these in parts."""
    storage = storage_of(value)
    if storage is not None:
        return (storage.size,), storage.dtype.numpy, parts_of(storage)
    if isinstance(value, Tensor):
        tensor = lua_tensor(value)
        return tensor.sizes or (0,), tensor.dtype.numpy, elements(tensor)
    array = _plain(value)
    return array.shape, array.dtype, (array,)


def _plain(value: Any) -> Array:
    """A number, boolean or string as an array without dimensions."""
    if isinstance(value, str) and not value.endswith("\0"):
        return np.array(value)
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return np.frombuffer(data, np.uint8)
    return np.array(value)
