"""Reads and writes the numbers, strings and elements of binary files, one after the other.

No more memory is allocated for a size in a file than the file can fill. The elements of large
storages stay in the file until they are first used.
"""

import os
import weakref
from collections.abc import Callable
from struct import Struct, error, unpack_from
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import DTYPES, EXACT, LONG, Array, DType
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.t7.tensors import parts_of
from th_shell.runtime.t7.values import NUMBER, STRING, T7Error, plain_number, plain_string

OVERFLOW = "$ Torch: invalid memory size -- maybe an overflow?"

_LARGE_FILE = 32 << 20  # bytes of a file from which on storages may stay in it
_LARGE_STORAGE = 16 << 10  # and bytes of such a storage
_FIRST, _MOST = 512, 1 << 18  # bytes read at a time: few behind elements, then more and more
_PIECE = 1 << 18  # elements that are converted at a time
FULL = 1 << 16  # bytes that are collected before they are written
_NUMBER_SIZE = 12  # bytes of a number with its kind


def too_short(done: int, expected: int) -> T7Error:
    """Return the reference's error about a file that ends too early."""
    return T7Error(f"read error: read {done} blocks instead of {expected}")


class MemoryBytes:
    """Bytes in memory. size: how many there are."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self.size = len(data)

    def read(self, at: int, count: int) -> bytes:
        """Return so many bytes from a position on; fewer where they end."""
        return bytes(self._data[at : at + count])

    def read_into(self, out: memoryview, at: int) -> int:
        """Copy bytes from a position on into memory; returns how many there were."""
        part = self._data[at : at + len(out)]
        out[: len(part)] = part
        return len(part)

    def later(self, cls: type[Storage], count: int, at: int) -> Storage | None:
        """Return a storage that reads its elements at their first use; None: read them now."""
        return None


class DiskBytes:
    """The bytes of a file, read as those in memory.

    It stays open as long as a storage's elements are still in it.
    lazy: whether elements of large files may stay there.
    """

    def __init__(self, descriptor: int, name: str, lazy: bool) -> None:
        self._descriptor = descriptor
        self._name = name
        self._state = _state(descriptor)
        self.size = self._state[0]
        self._lazy = lazy and self.size >= _LARGE_FILE
        weakref.finalize(self, os.close, descriptor)

    def read(self, at: int, count: int) -> bytes:
        return os.pread(self._descriptor, count, at)

    def read_into(self, out: memoryview, at: int) -> int:
        done = 0
        while done < len(out):
            got = os.preadv(self._descriptor, [out[done:]], at + done)
            if not got:
                break
            done += got
        return done

    def later(self, cls: type[Storage], count: int, at: int) -> Storage | None:
        if not self._lazy or count * cls.dtype.size < _LARGE_STORAGE:
            return None

        def read(out: Array, start: int) -> None:
            nbytes = self.read_into(out.view(np.uint8).data, at + start * out.itemsize)
            if nbytes != out.nbytes or _state(self._descriptor) != self._state:
                raise T7Error(
                    f"{self._name} was changed while elements of its tensors were still in it"
                )

        return cls.read_later(count, read)


Bytes = MemoryBytes | DiskBytes


def _state(descriptor: int) -> tuple[int, int]:
    """Return the size of a file, and when it was changed last."""
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


class BinarySource:
    """A binary file as a sequence of numbers and strings.

    order: '<' or '>', as in struct; long_size: bytes of a long, 4 or 8. The methods that read raise
    T7Error where the file ends.
    """

    def __init__(self, file: Bytes, order: str, long_size: int) -> None:
        self._file = file
        self._data = b""
        self._start = 0  # the position in the file of the data's first byte
        self._at = 0  # the position of the next byte in the data
        self._step = _FIRST
        self.has_longs = False  # whether the size of a long has mattered
        self._long_size = long_size
        types = [np.dtype(f"i{long_size}") if dtype is LONG else dtype.numpy for dtype in DTYPES]
        self._wires = [wire.newbyteorder(order) for wire in types]  # type: ignore[arg-type]
        self._int = Struct(order + "i").unpack_from
        self._kind_and_double = Struct(order + "id").unpack_from
        self._double = Struct(order + "d").unpack_from
        self._long_format = order + "%d" + ("q" if long_size == 8 else "i")

    @property
    def position(self) -> int:
        """Return how many bytes were read."""
        return self._start + self._at

    def _need(self, count: int) -> None:
        """Have so many bytes in the data, from the position on."""
        position = self._start + self._at
        left = self._file.size - position
        if left < count:
            raise too_short(0, 1)
        self._data = self._file.read(position, min(max(count, self._step), left))
        self._start, self._at = position, 0
        self._step = min(2 * self._step, _MOST)
        if len(self._data) < count:  # others have made the file shorter
            raise too_short(0, 1)

    def read_int(self) -> int:
        """Return the next int, of 4 bytes."""
        at = self._at
        if at + 4 > len(self._data):
            self._need(4)
            at = 0
        self._at = at + 4
        value: int = self._int(self._data, at)[0]
        return value

    def read_long(self) -> int:
        """Return the next long."""
        return self.read_longs(1)[0]

    def read_longs(self, count: int) -> tuple[int, ...]:
        """Return the next longs."""
        self.has_longs = True
        nbytes = count * self._long_size
        if self._at + nbytes > len(self._data):
            self._need(nbytes)
        at = self._at
        self._at = at + nbytes
        return unpack_from(self._long_format % count, self._data, at)

    def read_double(self) -> float:
        """Return the next double."""
        at = self._at
        if at + 8 > len(self._data):
            self._need(8)
            at = 0
        self._at = at + 8
        value: float = self._double(self._data, at)[0]
        return value

    def read_string(self) -> bytes:
        """Return the next string: an int with its length, and its bytes."""
        count = self.read_int()
        if count < 0:
            raise T7Error(OVERFLOW)
        left = self._file.size - self.position
        if count > left:
            raise too_short(left, count)
        if self._at + count > len(self._data):
            self._need(count)
        at = self._at
        self._at = at + count
        return self._data[at : at + count]

    def read_elements(self, dtype: DType, count: int) -> Storage:
        """Return a storage of so many elements."""
        wire = self._wires[dtype.index]
        self.has_longs = self.has_longs or dtype is LONG
        if count < 0:
            raise T7Error(OVERFLOW)
        left = self._file.size - self.position
        if count * wire.itemsize > left:
            raise too_short(left // wire.itemsize, count)
        cls, is_plain = STORAGE_CLASSES[dtype.index], wire == dtype.numpy
        later = self._file.later(cls, count, self.position) if is_plain else None
        if later is not None:
            self._skip(count * wire.itemsize)
            return later
        storage = cls.new(count)
        if is_plain:
            self._read_into(storage.data)
            return storage
        for start in range(0, count, _PIECE):
            piece = np.empty(min(_PIECE, count - start), wire)
            self._read_into(piece)
            storage.data[start : start + len(piece)] = piece
        return storage

    def read_plain_entries(self, into: dict[Any, Any], count: int) -> tuple[int, Any]:
        """Read entries of a table whose keys and values are numbers and strings, as they come.

        Returns how many: count, or fewer where another one comes, or may come; and the key of that
        one, or None where it was not read.
        """
        # One loop without calls of our own: there may be millions of entries.
        data, at, behind = self._data, self._at, self._at
        last, left, key = len(data) - _NUMBER_SIZE, count, None
        while left and at <= last:
            kind, number = self._kind_and_double(data, at)
            if kind == NUMBER:
                at += _NUMBER_SIZE
                is_whole = -EXACT <= number <= EXACT and (whole := int(number)) == number
                value: Any = whole if is_whole and whole else plain_number(number)
            elif kind == STRING:
                start = at + 8
                at = start + self._int(data, at + 4)[0]
                if not start <= at <= len(data):
                    break
                value = plain_string(data[start:at])
            else:
                break
            if key is None:
                if value != value:  # nan
                    break
                key = value
            else:
                into[key] = value
                key = None
                left -= 1
            behind = at
        self._at = behind
        return count - left, key

    def _read_into(self, out: Array) -> None:
        memory = out.view(np.uint8).data
        present = self._data[self._at : self._at + len(memory)]
        memory[: len(present)] = present
        missing = len(memory) - len(present)
        done = self._file.read_into(memory[len(present) :], self.position + len(present))
        if done < missing:
            raise too_short((len(present) + done) // out.itemsize, len(out))
        self._skip(len(memory))

    def _skip(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            self._start, self._at, self._data, self._step = self.position, 0, b"", _FIRST


#: Takes the bytes that are written.
Put = Callable[[bytes | bytearray | memoryview], object]


class Collector:
    """Collects small writes."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._pending = bytearray()

    def _add(self, data: bytes) -> None:
        self._pending += data
        if len(self._pending) >= FULL:
            self.flush()

    def _pass_on(self, data: memoryview) -> None:
        """Write bytes, of which there may be many, without a copy."""
        if len(data) < FULL:
            self._add(bytes(data))
            return
        self.flush()
        self._put(data)

    def flush(self) -> None:
        """Write out what was collected."""
        pending, self._pending = self._pending, bytearray()
        if pending:
            self._put(pending)


class BinarySink(Collector):
    """A binary file, written from its beginning to its end. long_size: bytes of a long, 4 or 8."""

    def __init__(self, put: Put, long_size: int) -> None:
        super().__init__(put)
        self._long = Struct("<q" if long_size == 8 else "<i").pack
        self._long_type = np.dtype(f"<i{long_size}")
        self._int = Struct("<i").pack
        self._double = Struct("<d").pack

    def put_int(self, value: int) -> None:
        """Write an int."""
        self._add(self._int(value))

    def put_long(self, value: int) -> None:
        """Write a long."""
        try:
            self._add(self._long(value))
        except error:
            raise T7Error(
                f"{value} does not fit a long of {self._long_type.itemsize} bytes"
            ) from None

    def put_longs(self, values: tuple[int, ...]) -> None:
        """Write several together."""
        for value in values:
            self.put_long(value)

    def put_double(self, value: float) -> None:
        """Write a double."""
        self._add(self._double(value))

    def put_string(self, value: bytes) -> None:
        """Write a string: its length, and its bytes."""
        check_length(value)
        self.put_int(len(value))
        self._pass_on(memoryview(value))

    def put_elements(self, storage: Storage) -> None:
        """Write the elements of a storage."""
        dtype = storage.dtype
        wire = self._long_type if dtype is LONG else dtype.numpy.newbyteorder("<")
        for piece in parts_of(storage):
            written = piece.astype(wire, copy=False)
            if written is not piece and not np.array_equal(written, piece):
                raise T7Error(f"an element does not fit a long of {wire.itemsize} bytes")
            self._pass_on(written.view(np.uint8).data)


def check_length(value: bytes) -> None:
    """Raise T7Error for a string whose length is no int."""
    if len(value) >= 2**31:
        raise T7Error(f"a string of {len(value)} bytes: files of Torch7 have none of 2 GB and more")
