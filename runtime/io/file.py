"""``File``: what files on disks, in memory and in pipes have in common.

`read` and `write` move elements of storages, and convert them where a binary file has another
byte order, or longs of another size, than the memory. Subclasses read and write bytes.

``Window`` is the C struct with a file's state that Lua and Python share. Lua reads the bytes from
``at`` to ``stop``, writes those from ``at`` to ``room``, and moves ``at``. For other bytes it calls
Python, which reads in the struct how far Lua has got. Both check positions against the size of the
memory, which a program may change at any time.
"""

import ctypes

import numpy as np

from th_shell.runtime.core.c_structs import WINDOW
from th_shell.runtime.core.dtypes import CHAR, LONG, Array, DType
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage

_FIRST = 1 << 16  # elements read at first where it is not known how many there are

#: The buffer of closed files.
_NO_BYTES = STORAGE_CLASSES[CHAR.index].new(0)


class File:
    """An open or closed file.

    window: the struct with its state, which Lua reads and writes, too. memory: the CharStorage
    whose bytes the window's positions refer to: the buffer of a file on disk, or the bytes of a
    file in memory.
    Manual: File Interface.
    """

    typename = "torch.File"

    def __init__(self, memory: Storage, mode: str, quiet: bool = False) -> None:
        """Describe an open file; mode: 'r', 'w' or 'rw'; the caller has checked it."""
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
        """Return the address of the window, which is valid as long as this file lives."""
        return ctypes.addressof(self.window)

    def bytes(self) -> memoryview:
        """Return the bytes of the memory."""
        return self.memory.data.view(np.uint8).data

    def look_at(self, memory: Storage) -> None:
        """Refer to other memory."""
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
        """Return the numpy type of an element in this file, if that is binary."""
        if not self.window.binary:
            return dtype.numpy
        wire = dtype.numpy
        if dtype is LONG and self.window.long_size == 4:
            wire = np.dtype(np.int32)
        return wire.newbyteorder() if self.window.swapped else wire

    def read(self, out: Array, dtype: DType) -> int:
        """Fill an array with the file's next elements, as bytes; returns how many there were."""
        self.check_readable()
        wire = self.wire(dtype)
        if wire == dtype.numpy:
            return self.take(out.view(np.uint8).data, wire.itemsize) // wire.itemsize
        foreign = np.empty(len(out), wire)
        count = self.take(foreign.view(np.uint8).data, wire.itemsize) // wire.itemsize
        out[:count] = foreign[:count]
        return count

    def write(self, values: Array, dtype: DType) -> int:
        """Write an array's elements as bytes; returns how many could be written."""
        self.check_writable()
        wire = self.wire(dtype)
        return self.put(values.astype(wire, copy=False).view(np.uint8).data) // wire.itemsize

    def read_sized(self, storage: Storage, count: int) -> int:
        """Resize a storage to ``count`` elements, or to as many as there are, and fill it.

        Allocates no more memory than the file can fill, or twice as much where its size is not
        known: the count in a damaged file may be any number. Returns how many elements there were.
        """
        remaining = self.remaining()
        width = self.wire(storage.dtype).itemsize
        limit = count if remaining is None else min(count, remaining // width)
        done, size = 0, limit if remaining is not None else min(limit, _FIRST)
        while True:
            storage.resize(size)
            done += self.read(storage.data[done:], storage.dtype)
            if done < size or size == limit:
                break
            size = min(limit, 2 * size)
        if done < size:
            storage.resize(done)
        return done

    # -- what subclasses do; but for those that read, the file is open

    def fill(self, need: int) -> int:
        """Make ``need`` bytes readable in the memory; fewer only at the file's end.

        Returns how many are readable from the window's position on.
        """
        raise NotImplementedError

    def remaining(self) -> int | None:
        """Return the number of bytes that can still be read; None where it is not known."""
        raise NotImplementedError

    def take(self, out: memoryview, unit: int) -> int:
        """Copy the next bytes, a multiple of ``unit``, into out; returns how many."""
        raise NotImplementedError

    def put(self, data: memoryview) -> int:
        """Write bytes; returns how many could be written."""
        raise NotImplementedError

    def seek(self, position: int) -> None:
        """Set the position to a byte, counted from 0."""
        raise NotImplementedError

    def seek_end(self) -> None:
        """Set the position behind the last byte."""
        raise NotImplementedError

    def position(self) -> int:
        """Return the position of the next byte, counted from 0."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Write the bytes of a buffer to the file."""

    def close(self) -> None:
        """Close the file, even if an error is raised because bytes could not be written."""
        self.window.opened = 0
        self.window.at = self.window.stop = self.window.room = 0
        self.look_at(_NO_BYTES)


#: The value of ``room`` where only the size of the memory limits what Lua may write.
UNBOUNDED = float(1 << 62)


class Window(ctypes.Structure):
    """The struct. Positions count bytes of the memory from 0; they are doubles, as Lua's numbers.

    memory: the mirror of the CharStorage that has the bytes (see core/storage.py).
    at: the position of the next byte. stop: the end of the bytes that can be read. room: the end
    of those that can be written.
    long_size: the bytes of a long in a binary file; 0 for as many as in memory.
    The other members are flags, 1 for true. readable, writable: the mode allows it. quiet: errors
    set failed instead of being raised. spacing: text has spaces and newlines between numbers.
    swapped: a binary file has the other byte order. direct: binary numbers are as in memory, so
    that Lua can read them. stream: white space that was read before something that is no number
    is not read again.
    """

    _fields_ = WINDOW.fields
