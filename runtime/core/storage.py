"""``Storage``: a block of memory that tensors view, as Torch7's torch.TYPEStorage.

Owns the memory (its own, another storage's, a mapped file's, or a raw pointer's) and the
storage half of the C mirror.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from th_shell.runtime.core.c_structs import MOVES, STORAGE, Flag
from th_shell.runtime.core.dtypes import DTYPES, Array, DType, cast
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.memory import SLOTS, Memory, address_of, bytes_at, is_writable
from th_shell.runtime.core.state import current

_MIRROR = struct.Struct(STORAGE.format)
#: The storages by the addresses of their C structs; each one takes itself out.
_by_address: dict[int, ref[Storage]] = {}
_NO_DATA = np.empty(0)
_reading = threading.RLock()  # two threads may use a storage that was not read yet
_AT_FLAG = STORAGE.offset("flag")
# As plain numbers: an IntFlag's operators take a microsecond.
_KNOWN, _NOT_KNOWN = int(Flag.KNOWN), 0xFF & ~int(Flag.KNOWN)
_MOVED = int(Flag.MOVED)
_OF_BLOCKS = int(Flag.SHARED | Flag.MOVED)
_OWN, _FOREIGN = (
    int(Flag.REFCOUNTED | Flag.RESIZABLE | Flag.FREEMEM),
    int(Flag.REFCOUNTED | Flag.VIEW),
)


class Storage:
    """A one-dimensional block of elements of one type.

    data: the elements, as a one-dimensional contiguous array of length ``size``.
    Elements are counted from 0 here and from 1 in Lua.
    """

    data: Array

    __slots__ = (
        "__weakref__",
        "_counted",
        "_kept",
        "_memory",
        "_owner",
        "_rooms",
        "_slot",
        "_unread",
        "data",
        "refcount",
    )

    dtype: DType  # of the class

    @uninterruptible
    def __init__(self, data: Array, owner: Any = None, counted: int = 0) -> None:
        """Wrap memory.

        owner: the object whose memory it is, which then cannot be resized; None for own memory.
        counted: the bytes of it that the meter has counted.
        """
        self.data = data
        self.refcount = 1
        self._owner = owner
        self._slot: Any = None
        self._kept: Any = None  # Lua's block, where the struct and the elements are part of one
        self._memory = current(Memory)
        self._rooms: list[Array] | None = None  # what it has had since several threads use it
        self._unread: tuple[int, Callable[[Array, int], None]] | None = None
        self._counted = counted  # last: __del__ gives back what it counts

    @classmethod
    @uninterruptible
    def new(cls, size: int = 0) -> Storage:
        """Return a storage of ``size`` undetermined elements."""
        data = current(Memory).allocate(size, cls.dtype)
        return cls(data, None, data.nbytes)

    @classmethod
    @uninterruptible
    def of(cls, data: Array) -> Storage:
        """Return a storage that takes over a fresh one-dimensional contiguous array."""
        current(Memory).meter.add(data.nbytes)
        return cls(data, None, data.nbytes)

    @classmethod
    def read_later(cls, size: int, read: Callable[[Array, int], None]) -> Storage:
        """Return a storage of ``size`` elements that are read when `data` is first used.

        read: fills an array with those from an element on, or raises an error.
        """
        storage = cls(_NO_DATA)
        del storage.data
        storage._unread = size, read
        return storage

    def __getattr__(self, name: str) -> Array:
        # Python asks here for what is not there: `data`, where it was not read yet.
        if name != "data" or self._unread is None:
            raise AttributeError(name)
        with _reading:
            if self._unread is not None:
                size, read = self._unread
                data = self._memory.allocate(size, self.dtype)
                try:
                    read(data, 0)
                except BaseException:
                    self._memory.meter.remove(data.nbytes)
                    raise
                self._take(data)
        return self.data

    def part(self, start: int, stop: int) -> Array:
        """Some elements, to be read. Those that are not in memory are read for this call alone."""
        unread = self._unread
        if unread is None:
            return self.data[start:stop]
        out = np.empty(stop - start, self.dtype.numpy)
        unread[1](out, start)
        return out

    @uninterruptible
    def _take(self, data: Array) -> None:
        self.data, self._counted, self._unread = data, data.nbytes, None

    @classmethod
    def view_of(cls, source: Storage, offset: int, size: int) -> Storage:
        """Return a storage that shares ``size`` elements of another one from ``offset`` (from 0).

        Manual: Storage, torch.TYPEStorage(storage [, offset [, size]]).
        """
        if not 0 <= offset < source.size:
            raise TorchError("offset out of bounds")
        if not 1 <= size <= source.size - offset:
            raise TorchError("size out of bounds")
        return cls(source.data[offset : offset + size], source)

    @classmethod
    def at_address(cls, address: int, size: int) -> Storage:
        """Return a storage over ``size`` elements of raw memory, which it does not free.

        Manual: Storage, torch.TYPEStorage(size, ptr). Raises ArgError for memory that cannot be
        written: Torch7 dies when it is used.
        """
        if size < 0 or size >= 1 << 59:
            raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
        if address == 0 and size > 0:
            raise ArgError(2, "null pointer")
        count = size * cls.dtype.size
        if count and not is_writable(address, count):
            memory = f"there are no {count} bytes at {address:#x} that this process may write"
            raise ArgError(2, f"pointer expected: {memory}; a storage has one size")
        raw = (ctypes.c_char * count).from_address(address)
        return cls(np.frombuffer(memoryview(raw), cls.dtype.numpy), raw)

    @classmethod
    @uninterruptible
    def adopted(cls, struct: int, address: int, size: int, block: Any) -> Storage:
        """Return the storage of a block that Lua made, which has the C struct and the elements.

        There is one object for each block. Lua may ask for it again before it has got the first
        answer, in a finalizer.
        """
        reference = _by_address.get(struct)
        storage = reference() if reference is not None else None
        if storage is not None:
            return storage
        if size:
            raw = (ctypes.c_char * (size * cls.dtype.size)).from_address(address)
            storage = cls(np.frombuffer(memoryview(raw), cls.dtype.numpy))
        else:
            storage = cls(np.empty(0, cls.dtype.numpy))
        storage._kept = block
        buffer = bytes_at(struct, _MIRROR.size)
        buffer[_AT_FLAG] |= _KNOWN
        storage._slot = (buffer, 0, struct)
        _by_address[struct] = ref(storage)
        return storage

    def __del__(self) -> None:
        # Ctrl-C may have ended __init__, where no engine runs.
        if getattr(self, "_counted", 0):
            self._memory.meter.remove(self._counted)
            self._memory.recycle(self)
        if getattr(self, "_slot", None) is None:
            return
        _by_address.pop(self._slot[2], None)
        if self._kept is None:
            SLOTS.release(self._slot)
        else:  # Lua may go on using the block, and ask for an object once more
            buffer, _, _ = self._slot
            buffer[_AT_FLAG] &= _NOT_KNOWN

    @staticmethod
    def at_mirror(address: int) -> Storage:
        """Return the storage whose C struct is at an address that `mirror` gave."""
        reference = _by_address.get(address)
        storage = reference() if reference is not None else None
        if storage is None:
            raise TorchError("a finalizer has released the storage of a tensor in use")
        return storage

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return len(self.data) if self._unread is None else self._unread[0]

    @property
    def is_unread(self) -> bool:
        """Tell whether the elements are not in memory yet."""
        return self._unread is not None

    @uninterruptible
    def resize(self, size: int) -> None:
        """Change the number of elements; the first ones keep their values."""
        if self._owner is not None:
            raise TorchError("Trying to resize storage that is not resizable")
        old = self.data  # which another thread may replace meanwhile
        if size != len(old):
            data = self._room_for(size)
            count = min(size, len(old))
            data[:count] = old[:count]
            self._move_to(data)

    def _room_for(self, size: int) -> Array:
        rooms = self._rooms
        if rooms is None:
            return self._memory.allocate(size, self.dtype)
        if not rooms:
            rooms.append(self.data)
        if size > (last := len(rooms[-1])):
            # Some more, so that what is kept is not much more than what is in use.
            rooms.append(self._memory.allocate(max(size, last + last // 2), self.dtype))
        return rooms[-1][:size]

    def share_with_threads(self) -> None:
        """Let threads of other engines use it, too, and resize it.

        None of them can stop loops of another one, which may use the memory that it leaves: so that
        is kept. Nor can it call Lua for another one.
        """
        self.leave_block()
        if self._rooms is None:
            self._rooms = []

    @uninterruptible
    def leave_block(self) -> None:
        """Move elements that are in a block of Lua's, which may end before arrays of them do."""
        if self._is_in_block():
            data = self._memory.allocate(len(self.data), self.dtype)
            data[:] = self.data
            self._move_to(data)

    def _is_in_block(self) -> bool:
        return self._kept is not None and not self._slot[0][_AT_FLAG] & _MOVED

    def _move_to(self, data: Array) -> None:
        if self._is_in_block() and self._memory.leave_block is not None:
            self._memory.leave_block(self._kept)
        if self._rooms:
            self._counted = sum(room.nbytes for room in self._rooms)
        else:
            self._memory.meter.remove(self._counted)
            self._counted = data.nbytes
        self.data = data
        MOVES.value += 1
        self._write_mirror()

    def copy(self, source: Storage) -> None:
        """Take over another storage's elements, converted.

        Manual: Storage, [self] copy(storage).
        """
        if source.size != self.size:
            raise ArgError(2, "size mismatch")
        self.data[...] = cast(source.data, self.dtype)

    @uninterruptible
    def mirror(self) -> int:
        """Return the address of the C struct; it is valid and current as long as self lives."""
        if self._slot is None:
            self._slot = SLOTS.acquire()
            self._write_mirror()
            _by_address[self._slot[2]] = ref(self)
        return int(self._slot[2])

    def _write_mirror(self) -> None:
        if self._slot is not None:
            buffer, at, _ = self._slot
            flag = _OWN if self._owner is None else _FOREIGN
            if self._kept is not None:
                flag |= _KNOWN | buffer[_AT_FLAG] & _OF_BLOCKS
            address = address_of(self.data) if len(self.data) else 0
            mirror = _MIRROR.pack(address, len(self.data), self.refcount, flag)
            # At once, since other threads may read it: pack_into would first write zeros.
            buffer[at : at + _MIRROR.size] = mirror

    def count_references(self, change: int) -> None:
        """Change the reference counter that Lua can see.

        Manual: Storage, retain() and free(). The memory goes with the last Lua reference
        whatever the counter says: no program can free what another still reads.
        """
        self.refcount = max(self.refcount + change, 0)
        self._write_mirror()


def storage_class(dtype: DType) -> type[Storage]:
    """Return a new class of storages, for an element type."""
    members = {"__slots__": (), "dtype": dtype, "__doc__": f"{dtype.storage_name}."}
    return type(f"{dtype.name}Storage", (Storage,), members)


#: The storage classes, in the order of DTYPES.
STORAGE_CLASSES = tuple(storage_class(dtype) for dtype in DTYPES)
