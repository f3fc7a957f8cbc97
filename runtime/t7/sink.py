"""What files are written with: numbers, strings and elements, in binary or as text."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np

from th_shell.runtime.core.dtypes import BYTE, CHAR, INT, LONG, Array
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.t7.text import element_texts, number_text
from th_shell.runtime.t7.values import T7Error

#: Takes the bytes that are written.
Put = Callable[[bytes | bytearray | memoryview], object]

_FULL = 1 << 16  # bytes that are collected before they are written
_PIECE = 1 << 20  # elements that are converted, or read from another file, at a time


class _Collecting:
    """Collects small writes."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._pending = bytearray()

    def _add(self, data: bytes) -> None:
        self._pending += data
        if len(self._pending) >= _FULL:
            self.flush()

    def _pass_on(self, data: memoryview) -> None:
        """Write bytes, of which there may be many, without a copy."""
        if len(data) < _FULL:
            self._add(bytes(data))
            return
        self.flush()
        self._put(data)

    def flush(self) -> None:
        """Write out what was collected."""
        pending, self._pending = self._pending, bytearray()
        if pending:
            self._put(pending)


class BinarySink(_Collecting):
    """A binary file, written from its beginning to its end. long_size: bytes of a long, 4 or 8."""

    def __init__(self, put: Put, long_size: int) -> None:
        super().__init__(put)
        self._long = struct.Struct("<q" if long_size == 8 else "<i").pack
        self._long_type = np.dtype(f"<i{long_size}")
        self._int = struct.Struct("<i").pack
        self._double = struct.Struct("<d").pack

    def put_int(self, value: int) -> None:
        """Write an int."""
        self._add(self._int(value))

    def put_long(self, value: int) -> None:
        """Write a long."""
        try:
            self._add(self._long(value))
        except struct.error:
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
        _check_length(value)
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


class TextSink(_Collecting):
    """An ascii file, written as a `BinarySink` is."""

    def put_int(self, value: int) -> None:
        self._add(b"%d\n" % value)

    put_long = put_int

    def put_longs(self, values: tuple[int, ...]) -> None:
        if values:
            self._add(b" ".join([b"%d" % value for value in values]) + b"\n")

    def put_double(self, value: float) -> None:
        self._add(number_text(value) + b"\n")

    def put_string(self, value: bytes) -> None:
        _check_length(value)
        self.put_int(len(value))
        if value:
            self._add(value + b"\n")

    def put_elements(self, storage: Storage) -> None:
        dtype, between = storage.dtype, b""
        for piece in parts_of(storage):
            if dtype in (BYTE, CHAR):  # as they are
                self._pass_on(piece.view(np.uint8).data)
                continue
            for start in range(0, len(piece), _FULL):
                self._add(between + element_texts(piece[start : start + _FULL], dtype))
                between = b" "
        if storage.size:
            self._add(b"\n")


Sink = BinarySink | TextSink


def parts_of(storage: Storage, start: int = 0, stop: int | None = None) -> Iterator[Array]:
    """Elements of a storage, in parts; of what is still in a file, one is in memory at a time."""
    stop = storage.size if stop is None else stop
    for at in range(start, stop, _PIECE):
        yield storage.part(at, min(at + _PIECE, stop))


def elements(tensor: Tensor) -> Iterator[Array]:
    """The elements of a runtime's tensor, in parts; of what is in a file, one at a time is read."""
    storage = tensor.storage
    if storage is None or not tensor.sizes:
        return
    steps = zip(tensor.sizes, tensor.strides, strict=True)
    stop = tensor.offset + 1 + sum((size - 1) * step for size, step in steps)
    if tensor.is_contiguous:
        yield from parts_of(storage, tensor.offset, stop)
        return
    part = storage.part(tensor.offset, stop)
    width = part.itemsize
    strides = tuple([step * width for step in tensor.strides])
    for row in np.ndarray(tensor.sizes, part.dtype, part, 0, strides):
        yield np.asarray(row)


def _check_length(value: bytes) -> None:
    if len(value) > np.iinfo(INT.numpy).max:
        raise T7Error(f"a string of {len(value)} bytes: files of Torch7 have none of 2 GB and more")
