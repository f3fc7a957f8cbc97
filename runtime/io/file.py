"""``File``: what files on disks, in memory and in pipes have in common.

Elements of storages go through `read` and `write`, converted where the file has another byte
order or other longs than the memory. Subclasses move bytes.
"""

from __future__ import annotations

import ctypes

import numpy as np

from runtime.core.dtypes import CHAR, LONG, Array, DType
from runtime.core.errors import ArgError
from runtime.core.storage import STORAGE_CLASSES, Storage
from runtime.io.window import Window

__all__ = ["File"]

_PIECE = 1 << 18  # elements converted at a time
_FIRST = 1 << 16  # elements read at first where nobody knows how many there are

#: The memory of closed files.
_NOTHING = STORAGE_CLASSES[CHAR.index].new(0)


class File:
    """An open or closed file.

    window: its state, shared with Lua. memory: the bytes that the window looks at.
    Manual: File Interface.
    """

    typename = "torch.File"

    def __init__(self, memory: Storage, mode: str, quiet: bool = False) -> None:
        """An open file; mode: 'r', 'w' or 'rw', already checked."""
        self.memory = memory
        self.window = Window(
            memory=memory.mirror(),
            opened=1,
            readable="r" in mode,
            writable="w" in mode,
            quiet=quiet,
            spacing=1,
        )

    @property
    def address(self) -> int:
        """Where the window lies; valid as long as self lives."""
        return ctypes.addressof(self.window)

    def bytes(self) -> memoryview:
        """The memory."""
        return self.memory.data.view(np.uint8).data

    def look_at(self, memory: Storage) -> None:
        """Hold other memory."""
        self.memory = memory
        self.window.memory = memory.mirror()

    def check_open(self) -> None:
        """Raise an ArgError where the file is closed."""
        if not self.window.opened:
            raise ArgError(1, "attempt to use a closed file")

    def check_readable(self) -> None:
        """Raise an ArgError where nothing can be read."""
        self.check_open()
        if not self.window.readable:
            raise ArgError(1, "attempt to read in a write-only file")

    def check_writable(self) -> None:
        """Raise an ArgError where nothing can be written."""
        self.check_open()
        if not self.window.writable:
            raise ArgError(1, "attempt to write in a read-only file")

    # -- elements

    def wire(self, dtype: DType) -> np.dtype[np.generic]:
        """What an element is in this file, when it is binary."""
        if not self.window.binary:
            return dtype.numpy
        wire = dtype.numpy
        if dtype is LONG and self.window.long_size == 4:
            wire = np.dtype(np.int32)
        return wire.newbyteorder() if self.window.swapped else wire

    def read(self, out: Array, dtype: DType) -> int:
        """Fill an array with the next elements, as bytes; how many there were."""
        self.check_readable()
        wire = self.wire(dtype)
        if wire == dtype.numpy:
            return self.take(out.view(np.uint8).data, wire.itemsize) // wire.itemsize
        done = 0
        while done < len(out):
            piece = np.empty(min(_PIECE, len(out) - done), wire)
            got = self.take(piece.view(np.uint8).data, wire.itemsize) // wire.itemsize
            out[done : done + got] = piece[:got]
            done += got
            if got < len(piece):
                break
        return done

    def write(self, values: Array, dtype: DType) -> int:
        """Write an array's elements as bytes; how many could be written."""
        self.check_writable()
        wire = self.wire(dtype)
        if wire == dtype.numpy:
            return self.put(values.view(np.uint8).data) // wire.itemsize
        done = 0
        while done < len(values):
            piece = values[done : done + _PIECE].astype(wire)
            written = self.put(piece.view(np.uint8).data) // wire.itemsize
            done += written
            if written < len(piece):
                break
        return done

    def read_sized(self, storage: Storage, count: int) -> int:
        """Resize a storage to the next ``count`` elements, or to as many as there are.

        Takes no more memory than the file can fill. Returns how many there were.
        """
        rest = self.remaining()
        width = self.wire(storage.dtype).itemsize
        most = count if rest is None else min(count, rest // width)
        done, size = 0, most if rest is not None else min(most, _FIRST)
        while True:
            storage.resize(size)
            done += self.read(storage.data[done:], storage.dtype)
            if done < size or size == most:
                break
            size = min(most, 2 * size)
        if done < size:
            storage.resize(done)
        if done < count and rest is not None:
            self.skip_partial()
        return done

    # -- what subclasses do

    def skip_partial(self) -> None:
        """Where too little was left for an element: skip it, if that is what happens."""

    def fill(self, need: int) -> int:
        """Bring ``need`` bytes into the window; how many are there, fewer at the end only."""
        raise NotImplementedError

    def remaining(self) -> int | None:
        """How many bytes can still be read; None where nobody knows."""
        raise NotImplementedError

    def take(self, out: memoryview, unit: int) -> int:
        """Move the next bytes, a multiple of ``unit``, to where out points; how many."""
        raise NotImplementedError

    def put(self, data: memoryview) -> int:
        """Write bytes; how many could be written."""
        raise NotImplementedError

    def seek(self, position: int) -> None:
        """Go to a byte, counted from 0."""
        raise NotImplementedError

    def seek_end(self) -> None:
        """Go behind the last byte."""
        raise NotImplementedError

    def position(self) -> int:
        """The next byte, counted from 0."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Hand everything written to the system."""
        raise NotImplementedError

    def close(self) -> None:
        """End the use of the file; also where an error is raised."""
        self.check_open()
        self.window.opened = 0
        self.window.at = self.window.stop = self.window.room = 0
        self.look_at(_NOTHING)
