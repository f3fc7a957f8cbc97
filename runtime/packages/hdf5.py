"""The Python half of the package ``hdf5``: HDF5 files by h5py.

Files, groups and datasets are known to Lua by numbers, which any thread of the process may use: an
object of Lua that refers to one can be serialized. All numbers of a file end with it.
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.dtypes import DTYPES, Array, DType
from runtime.core.errors import TorchError
from runtime.core.interrupts import uninterruptible
from runtime.core.storage import Storage
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from runtime.packages import optional

__all__ = ["functions"]

_numbers = itertools.count(1)
_objects: dict[int, Any] = {}  # what Lua knows: h5py's File, Group and Dataset

#: The original reads integers by their width alone: those without a sign have the same bytes.
_READ_AS = {"i1": "Byte", "i2": "Short", "i4": "Int", "i8": "Long", "f4": "Float", "f8": "Double"}
_BY_NAME = {dtype.name: dtype for dtype in DTYPES}
_CLASSES = {"S": "STRING", "O": "VLEN", "V": "COMPOUND", "b": "ENUM", "c": "COMPOUND"}
_MOST_DEFLATE = 9


def _h5py() -> Any:
    return optional("h5py", "h5py", "hdf5")


def _add(thing: Any) -> int:
    number = next(_numbers)
    _objects[number] = thing
    return number


def _find(number: float) -> Any:
    thing = _objects.get(int(number))
    if thing is None or not thing.id.valid:
        raise TorchError("the HDF5 file is closed")
    return thing


def _reason(error: Exception) -> str:
    return str(error).strip("'\"").replace("\n", " ")


# ------------------------------------------------------------------------- files


@uninterruptible
def _open(path: bytes, mode: bytes) -> int:
    h5py = _h5py()
    atexit.register(_close_all)
    try:
        return _add(h5py.File(path, mode.decode()))
    except OSError as error:
        raise TorchError(f"HDF5File: fileID -1 is not valid ({_reason(error)})") from error


@uninterruptible
def _close(number: float) -> None:
    """Close a file, with all that was found in it; or let go of a group or dataset."""
    thing = _objects.pop(int(number), None)
    if thing is None or not isinstance(thing, _h5py().File):
        return
    inside = [n for n, other in _objects.items() if other.id.valid and other.file == thing]
    thing.close()
    for n in inside:
        _objects.pop(n, None)


@uninterruptible
def _close_all() -> None:
    """Write out the files that a program has left open."""
    for number in list(_objects):
        _close(number)


def _group(number: float, name: bytes) -> int:
    """A group of a file or group, which is made where there is none of the name."""
    parent = _find(number)
    try:
        return _add(parent.require_group(name))
    except (OSError, TypeError, ValueError) as error:
        raise TorchError(f"Invalid groupID -1 ({_reason(error)})") from error


def _children(number: float) -> bytes:
    """The children of a group: of each its number, its kind and its name, and a zero byte."""
    h5py, found = _h5py(), []
    parent = _find(number)
    for name in parent:
        child = parent.get(name)
        kind = {h5py.Group: "group", h5py.Dataset: "dataset"}.get(type(child), "other")
        found.append(f"{_add(child) if kind != 'other' else 0} {kind} {name}\0")
    return "".join(found).encode("utf-8", "surrogateescape")


def _name(number: float) -> bytes:
    thing = _objects.get(int(number))
    return str(thing.name).encode() if thing is not None and thing.id.valid else b""


# ---------------------------------------------------------------------- datasets


def _element_type(dataset: Any) -> DType:
    """The element type of the tensor that a dataset is read into."""
    dtype = dataset.dtype
    key = dtype.str[1:].replace("u", "i")
    if key in _READ_AS and not _h5py().check_enum_dtype(dtype):
        return _BY_NAME[_READ_AS[key]]
    if dtype.kind in "iuf":
        kind = "float" if dtype.kind == "f" else "integer"
        raise TorchError(f"Cannot support reading {kind} data with size = {dtype.itemsize} bytes")
    name = "STRING" if _h5py().check_string_dtype(dtype) else _CLASSES.get(dtype.kind, "NO_CLASS")
    raise TorchError(f"Reading data of class {name}({dtype}) is unsupported")


def _read(dataset: Any, sizes: tuple[int, ...], where: Any) -> Tensor:
    """A new tensor of the elements of a part of a dataset."""
    tensor = TENSOR_CLASSES[_element_type(dataset).index].new(sizes)
    if tensor.nelement:
        # The same bytes as the file's type, in this machine's order: of which sign is told by it.
        array = tensor.array.view(dataset.dtype.newbyteorder("="))
        dataset.read_direct(array, where)
    return tensor


def _all(number: float) -> Tensor:
    dataset = _find(number)
    _element_type(dataset)
    try:
        if dataset.shape is None or not dataset.shape:
            raise TorchError("it has no dimension")
        return _read(dataset, dataset.shape, np.s_[...])
    except (OSError, ValueError, TorchError) as error:
        raise TorchError(
            f"HDF5DataSet:all() - failed reading data from {_described(number)} ({_reason(error)})"
        ) from error


def _partial(number: float, ranges: Storage) -> Tensor:
    """A part of a dataset. ranges: of each dimension the first and the last index, from 1."""
    dataset = _find(number)
    first, last = ranges.data[::2].tolist(), ranges.data[1::2].tolist()
    if len(first) != dataset.ndim:
        raise TorchError(
            f"HDF5DataSet:partial() - dimension mismatch. Expected {dataset.ndim} but "
            f"{len(first)} were given."
        )
    sizes = tuple(b - a + 1 for a, b in zip(first, last, strict=True))
    fits = all(1 <= a <= b <= n for a, b, n in zip(first, last, dataset.shape or (), strict=True))
    try:
        if not fits:
            raise TorchError(f"the sizes are {' x '.join(map(str, dataset.shape))}")
        where = tuple(slice(a - 1, b) for a, b in zip(first, last, strict=True))
        return _read(dataset, sizes, where)
    except (OSError, TorchError) as error:
        _element_type(dataset)
        raise TorchError(
            f"HDF5DataSet:partial() - failed reading data from {_described(number)} "
            f"({_reason(error)})"
        ) from error


def _described(number: float) -> str:
    return f"[HDF5DataSet ({int(number)} {_find(number).name} DATASET)]"


def _sizes(number: float) -> tuple[int, ...]:
    return tuple(_find(number).shape or ())


def _file_type(tensor: Tensor) -> np.dtype[Any]:
    if tensor.dtype.name not in _READ_AS.values() and tensor.dtype.name != "Char":
        raise TorchError(f"Cannot find hdf5 file type for {tensor.dtype.tensor_name}")
    return tensor.dtype.numpy.newbyteorder("<")


@uninterruptible
def _write(
    number: float, name: bytes, tensor: Tensor, chunks: Storage | None, deflate: float | None
) -> int:
    """Make a dataset of a tensor in a group; with chunks, it can grow in its first dimension."""
    group, dtype = _find(number), _file_type(tensor)
    error: Exception | str | None = None
    if not tensor.nelement:
        error = "the tensor has no elements"
    elif deflate is not None and chunks is None:
        error = "only chunks are compressed: setChunked"
    elif name in group:
        error = "there is something of this name"
    else:
        try:
            return _add(
                _new_dataset(group, name, tensor.array.astype(dtype, copy=False), chunks, deflate)
            )
        except (OSError, TypeError, ValueError) as raised:
            error = raised
    reason = error if isinstance(error, str) else _reason(error)
    raise TorchError(f"Error writing data {name.decode()} to {_describe_group(number)} ({reason})")


def _new_dataset(
    group: Any, name: bytes, array: Array, chunks: Storage | None, deflate: float | None
) -> Any:
    options: dict[str, Any] = {}
    if chunks is not None:
        options = {"chunks": tuple(chunks.data.tolist()), "maxshape": (None, *array.shape[1:])}
    if deflate is not None:
        options |= {"compression": "gzip", "compression_opts": min(int(deflate), _MOST_DEFLATE)}
    return group.create_dataset(name, data=array, **options)


def _describe_group(number: float) -> str:
    return f"[HDF5Group {int(number)} {_find(number).name}]"


def _growth_error(dataset: Any, sizes: Sequence[int]) -> str | None:
    """Why a tensor cannot be appended to a dataset."""
    if not dataset.chunks or dataset.maxshape[0] is not None:
        return "only data that was written in chunks can grow"
    if len(sizes) != dataset.ndim or any(
        size > n for size, n in zip(sizes[1:], dataset.shape[1:], strict=True)
    ):
        shapes = (" x ".join(map(str, shape)) for shape in (sizes, dataset.shape))
        return "the sizes are {}, those of the data {}".format(*shapes)
    return None


@uninterruptible
def _append(number: float, name: bytes, tensor: Tensor) -> int:
    """Write a tensor behind the rows of a dataset."""
    group = _find(number)
    dataset = group.get(name)
    failed = f"Error extending data {name.decode()} to {_describe_group(number)}"
    if not isinstance(dataset, _h5py().Dataset):
        raise TorchError(f"{failed} (no such data)")
    reason = _growth_error(dataset, tensor.sizes)
    if reason:
        raise TorchError(f"{failed} ({reason})")
    rows = dataset.shape[0]
    try:
        dataset.resize(rows + tensor.sizes[0], axis=0)
        dataset[(slice(rows, None), *(slice(0, n) for n in tensor.sizes[1:]))] = tensor.array
    except (OSError, TypeError, ValueError) as error:
        raise TorchError(f"{failed} ({_reason(error)})") from error
    return _add(dataset)


def functions() -> dict[str, Callable[..., Any]]:
    """The functions by the names that Lua knows them under."""
    return {
        "open": _open,
        "close": _close,
        "group": _group,
        "children": _children,
        "name": _name,
        "all": _all,
        "partial": _partial,
        "sizes": _sizes,
        "type": lambda number: _element_type(_find(number)).tensor_name.encode(),
        "write": _write,
        "append": _append,
    }
