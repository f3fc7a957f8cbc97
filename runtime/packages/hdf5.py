"""The Python half of the package ``hdf5``: HDF5 files by h5py.

Files, groups and datasets are known to Lua by numbers, which any thread of the process may use: an
object of Lua that refers to one can be serialized. All numbers of a file end with it.
"""

import errno
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from fcntl import LOCK_EX, LOCK_NB, flock
from io import FileIO
from typing import Any
from zlib import Z_BEST_COMPRESSION

import numpy as np

from th_shell.runtime.core.dtypes import DTYPES, Array, DType
from th_shell.runtime.core.encoding import printable, to_bytes
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.process import at_the_end
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.packages import optional

_numbers = itertools.count(1)
_objects: dict[int, Any] = {}  # what Lua knows: h5py's File, Group and Dataset

#: The original reads integers by their width alone: those without a sign have the same bytes.
_TYPE_NAMES = {
    "i1": "Byte",
    "i2": "Short",
    "i4": "Int",
    "i8": "Long",
    "f4": "Float",
    "f8": "Double",
}
_DTYPES = {dtype.name: dtype for dtype in DTYPES}
_CLASSES = {"S": "STRING", "O": "VLEN", "V": "COMPOUND", "b": "ENUM", "c": "COMPOUND"}


def _h5py() -> Any:
    return optional("h5py", "h5py", "hdf5")


def _add(item: Any) -> int:
    number = next(_numbers)
    _objects[number] = item
    return number


def _get(number: Any) -> Any:
    """Return the object of a number, which a program may have made up; None if there is none."""
    item = _objects.get(number) if isinstance(number, int) else None
    return item if item is not None and item.id.valid else None


def _require(number: float) -> Any:
    item = _get(number)
    if item is None:
        raise TorchError("the HDF5 file is closed")
    return item


@contextmanager
def _errors(failed: str) -> Iterator[None]:
    """Raise h5py's errors as one that begins with a text. Theirs tell of HDF5's functions."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise TorchError(f"{failed} ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    if isinstance(error, TorchError):
        return str(error)
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "it is damaged, or of a kind that cannot be read here"


# ------------------------------------------------------------------------- files


class _Written(FileIO):
    """A file that HDF5 writes, which replaces an older one, if it is a new one, when it is closed.

    HDF5 does not survive errors of the system while it closes a file: so none reaches it. They are
    raised by `check`, and leave the older file as it was.
    """

    def __init__(self, path: bytes, is_new: bool) -> None:
        self.path = path
        self._new = Replacement(path) if is_new else None
        self._error: OSError | None = None
        super().__init__(self._new.descriptor if self._new else path, "r+", closefd=not is_new)
        if not is_new:
            flock(self.fileno(), LOCK_EX | LOCK_NB)  # as HDF5 does with its own files

    def __repr__(self) -> str:  # by which h5py names the file
        return f"<file {id(self)}>"

    def readinto(self, buffer: Any) -> int:
        view, done = memoryview(buffer).cast("B"), 0
        while count := super().readinto(view[done:]):
            done += count
        return done

    def write(self, data: Any) -> int:
        view, done = memoryview(data).cast("B"), 0
        try:
            while done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self._error = self._error or error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def check(self) -> None:
        """Raise the first error there was."""
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Put a new file in its place. Raises OSError."""
        try:
            with self._new or nullcontext():
                self.check()
        finally:
            self.close()


_written: dict[str, _Written] = {}  # by the names that h5py has for them


@uninterruptible
def open_file(path: bytes, mode: bytes) -> int:
    """Return the number of a file; mode: 'r', 'r+', 'w', or 'x' for one that must be new."""
    h5py = _h5py()
    at_the_end(_close_all)
    with _errors("HDF5File: fileID -1 is not valid"):
        if mode == b"r":
            return _add(h5py.File(path, "r"))
        if _is_open(path):
            raise TorchError("it is open")
        if mode == b"x" and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "")
        written = _Written(path, is_new=mode != b"r+")
        file = h5py.File(written, "r+" if mode == b"r+" else "w")
        _written[file.filename] = written
        return _add(file)


def _is_open(path: bytes) -> bool:
    files = {item.file.filename for item in _objects.values() if item.id.valid}
    paths = [_written[name].path if name in _written else os.fsencode(name) for name in files]
    return os.path.realpath(path) in map(os.path.realpath, paths)


def _check(item: Any) -> None:
    """Raise OSError if writing the file of a group has failed."""
    written = _written.get(item.file.filename)
    if written is not None:
        written.check()


@uninterruptible
def close(number: float) -> None:
    """Close a file, with all that was found in it; or let go of a group or dataset."""
    item = _get(number)
    if item is not None:
        del _objects[int(number)]
    if not isinstance(item, _h5py().File):
        return
    with _errors("Error closing the HDF5 file"):
        for member_number, member in list(_objects.items()):
            if member.id.valid and member.file == item:
                _objects.pop(member_number, None)
        written = _written.pop(item.filename, None)
        item.close()
        if written is not None:
            written.finish()


@uninterruptible
def _close_all() -> None:
    """Write out the files that a program has left open."""
    for number in list(_objects):
        try:
            close(number)
        except TorchError as error:
            print(f"hdf5: {error}", file=sys.stderr)


def require_group(number: float, name: bytes) -> int:
    """Return a group of a file or group; make it where there is none of the name."""
    parent = _require(number)
    with _errors("Invalid groupID -1"):
        if isinstance(parent.get(name), _h5py().Dataset):
            raise TorchError(f"{printable(name)} is data")
        return _add(parent.require_group(name))


def children(number: float) -> bytes:
    """Return the children of a group: number, kind, address and name of each, and a zero byte."""
    parent = _require(number)
    with _errors("Failed getting group info"):
        names = list(parent)
    lines = [f"{_child(parent, number, name)} {name}\0" for name in names]
    return to_bytes("".join(lines))


def _child(parent: Any, number: float, name: str) -> str:
    """Return the number, the kind and the address of a group's child."""
    h5py = _h5py()
    where = f"'{printable(to_bytes(name))}' in {_group_text(number)}"
    with _errors(f"Unable to read from {where} - no such data path"):
        child = parent[name]
        kind = {h5py.Group: "group", h5py.Dataset: "dataset"}.get(type(child), "other")
        place = h5py.h5o.get_info(child.id)
    return f"{_add(child) if kind != 'other' else 0} {kind} {place.fileno}:{place.addr}"


def _group_text(number: float) -> str:
    return f"[HDF5Group {int(number)} {_path(number)}]"


def _dataset_text(number: float) -> str:
    return f"[HDF5DataSet ({int(number)} {_path(number)} DATASET)]"


def _path(number: float) -> str:
    return printable(to_bytes(str(_require(number).name)))


def name_of(number: float) -> bytes:
    """Return the path of a group or dataset in its file; '' where that is closed."""
    item = _get(number)
    return to_bytes(str(item.name)) if item is not None else b""


# ---------------------------------------------------------------------- datasets


def _read(dataset: Any, dtype: DType, sizes: tuple[int, ...], where: Any) -> Tensor:
    """Return a new tensor of the elements of a part of a dataset."""
    tensor = TENSOR_CLASSES[dtype.index].new(sizes)
    if tensor.nelement:
        # The same bytes as the file's type, in this machine's order: of which sign is told by it.
        array = tensor.array.view(dataset.dtype.newbyteorder("="))
        dataset.read_direct(array, where)
    return tensor


def read_all(number: float) -> Tensor:
    """Return all of a dataset as a tensor."""
    dataset, dtype = _require(number), _type(number)
    with _errors(f"HDF5DataSet:all() - failed reading data from {_dataset_text(number)}"):
        if not dataset.shape:
            raise TorchError("it has no dimension")
        return _read(dataset, dtype, dataset.shape, np.s_[...])


def read_part(number: float, ranges: Storage) -> Tensor:
    """Return a part of a dataset as a tensor.

    ranges: of each dimension the first and the last index, from 1.
    """
    dataset, sizes = _require(number), sizes_of(number)
    first, last = ranges.data[::2].tolist(), ranges.data[1::2].tolist()
    if len(first) != len(sizes):
        raise TorchError(
            f"HDF5DataSet:partial() - dimension mismatch. Expected {len(sizes)} but "
            f"{len(first)} were given."
        )
    dtype = _type(number)
    with _errors(f"HDF5DataSet:partial() - failed reading data from {_dataset_text(number)}"):
        if not all(1 <= a <= b <= n for a, b, n in zip(first, last, sizes, strict=True)):
            raise TorchError(f"the sizes are {' x '.join(map(str, sizes))}")
        where = tuple(slice(a - 1, b) for a, b in zip(first, last, strict=True))
        return _read(dataset, dtype, tuple(part.stop - part.start for part in where), where)


def sizes_of(number: float) -> tuple[int, ...]:
    """Return the sizes of a dataset."""
    dataset = _require(number)
    with _errors("Failed getting dataspace size"):
        return tuple(dataset.shape or ())


def _type(number: float) -> DType:
    """Return the element type of the tensor that a dataset is read into."""
    dataset = _require(number)
    with _errors(f"Error getting type for object {int(number)}"):
        dtype, is_text = dataset.dtype, _h5py().check_string_dtype(dataset.dtype)
        is_choice = _h5py().check_enum_dtype(dtype)
    key = dtype.str[1:].replace("u", "i")
    if key in _TYPE_NAMES and not is_choice:
        return _DTYPES[_TYPE_NAMES[key]]
    if dtype.kind in "iuf":
        kind = "float" if dtype.kind == "f" else "integer"
        raise TorchError(f"Cannot support reading {kind} data with size = {dtype.itemsize} bytes")
    name = "STRING" if is_text else _CLASSES.get(dtype.kind, "NO_CLASS")
    raise TorchError(f"Reading data of class {name}({dtype}) is unsupported")


def type_name(number: float) -> bytes:
    """Return the class of the tensor that a dataset is read into."""
    return _type(number).tensor_name.encode()


def _file_type(tensor: Tensor) -> np.dtype[Any]:
    if tensor.dtype.name not in _TYPE_NAMES.values() and tensor.dtype.name != "Char":
        raise TorchError(f"Cannot find hdf5 file type for {tensor.dtype.tensor_name}")
    return tensor.dtype.numpy.newbyteorder("<")


@uninterruptible
def write(
    number: float, name: bytes, tensor: Tensor, chunks: Storage | None, deflate: float | None
) -> int:
    """Make a dataset of a tensor in a group; with chunks, it can grow in its first dimension."""
    group, dtype = _require(number), _file_type(tensor)
    with _errors(f"Error writing data {printable(name)} to {_group_text(number)}"):
        if not tensor.nelement:
            raise TorchError("the tensor has no elements")
        if deflate is not None and chunks is None:
            raise TorchError("only chunks are compressed: setChunked")
        if name in group:
            raise TorchError("there is something of this name")
        array = tensor.array.astype(dtype, copy=False)
        dataset = _new_dataset(group, name, array, chunks, deflate)
        _check(group)
        return _add(dataset)


def _new_dataset(
    group: Any, name: bytes, array: Array, chunks: Storage | None, deflate: float | None
) -> Any:
    options: dict[str, Any] = {}
    if chunks is not None:
        options = {"chunks": tuple(chunks.data.tolist()), "maxshape": (None, *array.shape[1:])}
    if deflate is not None:
        options |= {
            "compression": "gzip",
            "compression_opts": min(int(deflate), Z_BEST_COMPRESSION),
        }
    return group.create_dataset(name, data=array, **options)


def _check_growth(dataset: Any, sizes: Sequence[int]) -> None:
    """Raise TorchError where a tensor cannot be appended to a dataset."""
    if not isinstance(dataset, _h5py().Dataset):
        raise TorchError("no such data")
    if not dataset.chunks or dataset.maxshape[0] is not None:
        raise TorchError("only data that was written in chunks can grow")
    if len(sizes) != dataset.ndim or any(
        size > n for size, n in zip(sizes[1:], dataset.shape[1:], strict=True)
    ):
        shapes = (" x ".join(map(str, shape)) for shape in (sizes, dataset.shape))
        raise TorchError("the sizes are {}, those of the data {}".format(*shapes))


@uninterruptible
def append(number: float, name: bytes, tensor: Tensor) -> int:
    """Write a tensor behind the rows of a dataset."""
    group = _require(number)
    with _errors(f"Error extending data {printable(name)} to {_group_text(number)}"):
        dataset = group.get(name)
        _check_growth(dataset, tensor.sizes)
        rows = dataset.shape[0]
        dataset.resize(rows + tensor.sizes[0], axis=0)
        dataset[(slice(rows, None), *(slice(0, n) for n in tensor.sizes[1:]))] = tensor.array
        _check(group)
        return _add(dataset)
