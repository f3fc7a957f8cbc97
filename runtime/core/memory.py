"""Memory of storages: its allocation and addresses, how much of it lives, slots for C structs.

numpy's memory is invisible to Lua's garbage collector. ``Meter`` counts it and asks for a
collection when it has doubled since the last one.
"""

import ctypes
import mmap
import sys
import time
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array, DType
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.machine import limit_data
from th_shell.runtime.core.platform import c_function, give_pages_back
from th_shell.runtime.core.state import Part

# The C struct of an array begins, behind what all objects have, with the address of its elements.
_BEHIND_HEAD = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _read_address(array: Array) -> int:
    return _pointer_at(id(array) + _BEHIND_HEAD).value or 0


def _ask_address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _find_way() -> Callable[[Array], int]:
    sample = np.arange(4)[1:]
    return _read_address if _read_address(sample) == _ask_address(sample) else _ask_address


#: The address of an array's first element; to read it takes a tenth of the time that numpy takes.
address_of = _find_way()


# The parts of memory that this process could write when it last looked, joined where they touch.
_writable: list[tuple[int, int]] = []
_MS_ASYNC = 1


def is_writable(address: int, size: int) -> bool:
    """Return whether this process may write the bytes from an address on; True if nothing tells."""
    if _is_known(address, size) and _is_mapped(address, size):
        return True
    try:
        with open("/proc/self/maps", "rb") as file:
            lines = file.readlines()  # such as b"7f0000000000-7f0000021000 rw-p 00000000 00:00 0"
    except OSError:
        return True
    _writable.clear()
    for line in lines:
        first, end = (int(number, 16) for number in line.split()[0].split(b"-"))
        if line.split()[1].startswith(b"rw"):
            begins_at_last = _writable and _writable[-1][1] == first
            _writable.append((_writable.pop()[0] if begins_at_last else first, end))
    return _is_known(address, size)


def _is_known(address: int, size: int) -> bool:
    return any(first <= address and address + size <= end for first, end in _writable)


def _is_mapped(address: int, size: int) -> bool:
    """Return whether all pages are mapped, whatever their rights: this takes no time."""
    msync, page = c_function("msync"), address % mmap.PAGESIZE
    if msync is None:
        return False
    length = ctypes.c_size_t(size + page)
    return int(msync(ctypes.c_void_p(address - page), length, _MS_ASYNC)) == 0


#: Nothing is collected on account of memory below this many bytes.
_THRESHOLD = 128 << 20
#: How many bytes may be allocated before the next collection, for each second that one took.
_BYTES_PER_SECOND = 80 << 30
#: An allocation of so many bytes takes longer, since the system has to provide the pages, than a
#: collection of so many seconds: it collects first, to use memory again. To keep larger memory
#: would take more of it than it saves time.
_LARGE = 64 << 20
_MAX_QUICK = 0.03


def not_enough(nbytes: int) -> str:
    """Return the reference's message where there is no memory for so many bytes."""
    return f"$ Torch: not enough memory: you tried to allocate {nbytes >> 30}GB. Buy new RAM!"


class Meter:
    """Counts the bytes that live storages hold and collects when they grow.

    collect: lets Lua collect what nobody uses; the engine sets it.
    """

    def __init__(self) -> None:
        self.live = 0
        self.limit = _THRESHOLD
        self._settled = 0  # what lived after the last collection
        self._quick = True  # whether that took little time
        self.collect: Callable[[], None] | None = None

    @property
    def room(self) -> int:
        """Return the bytes left until a collection is due."""
        return self.limit - self.live

    def add(self, nbytes: int) -> None:
        """Count memory about to be allocated; may first collect what nobody uses."""
        limit = self.limit
        if nbytes >= _LARGE and self._quick:
            limit = min(limit, max(_THRESHOLD, self._settled + nbytes // 2))
        if self.live + nbytes > limit and self.collect is not None:
            self._make_room(self.collect, nbytes)
        self.live += nbytes

    def _make_room(self, collect: Callable[[], None], nbytes: int) -> None:
        start = time.thread_time()
        collect()
        if self.live + nbytes > self.limit // 2:
            collect()  # what the first round finalized may have kept more
        taken = time.thread_time() - start
        more = int(taken * _BYTES_PER_SECOND)
        self._quick = taken < _MAX_QUICK
        live = self._settled = self.live + nbytes
        self.limit = max(_THRESHOLD, 2 * live, min(live + more, 2 * _THRESHOLD))

    def remove(self, nbytes: int) -> None:
        """Count memory that was freed."""
        self.live -= nbytes
        if 2 * self.live < self._settled:  # without this, the limit of a larger program would stay
            self._settled = self.live
            self.limit = max(_THRESHOLD, 2 * self.live)


class Pool:
    """Keeps large memory that storages gave back, since new pages from the system cost more.

    Storages die in any thread, and in finalizers, which run between any two steps: each step here
    leaves the pool as it has to be, and at worst some memory is not kept. What is kept is counted
    anew, so that no count can be wrong.
    """

    MIN_BYTES = 1 << 20  # of an allocation; the C library reuses smaller ones by itself
    MAX_KEPT = 256 << 20  # bytes in all
    _LINE = 64  # bytes of a cache line, where the memory starts

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._free: dict[int, list[Array]] = {}  # by their bytes

    def has(self, nbytes: int) -> bool:
        """Tell whether memory of so many bytes is kept."""
        return bool(self._free.get(nbytes))

    def take(self, nbytes: int) -> Array:
        """Return undetermined bytes: kept ones, or new ones. `give` takes their base back."""
        blocks = self._free.get(nbytes, [])
        try:
            memory = blocks.pop()
        except IndexError:
            self.shrink(self._meter.room)
            memory = np.empty(nbytes + self._LINE, np.uint8)
        if not blocks:
            self._free.pop(nbytes, None)
        start = -address_of(memory) % self._LINE
        return memory[start : start + nbytes]

    def shrink(self, most: int) -> None:
        """Free kept memory until at most so many bytes are left."""
        excess = self._count() - max(most, 0)
        if excess <= 0:
            return
        for nbytes in list(self._free):
            if excess <= 0:
                return
            blocks = self._free.pop(nbytes, [])  # what is given meanwhile gets a new list
            count = min(len(blocks), -(-excess // nbytes))
            del blocks[:count]
            excess -= count * nbytes
            if blocks:
                self._free.setdefault(nbytes, []).extend(blocks)

    def give(self, memory: Array) -> None:
        """Keep the base of bytes from `take`, to which nothing else refers."""
        nbytes = memory.nbytes - self._LINE
        most = min(self.MAX_KEPT, self._meter.room)
        if nbytes <= _LARGE and self._count() + nbytes <= most:
            self._free.setdefault(nbytes, []).append(memory)

    def _count(self) -> int:
        """Return the bytes that are kept."""
        return sum([nbytes * len(blocks) for nbytes, blocks in list(self._free.items())])


class Memory(Part):
    """The memory of an engine's storages.

    fill_pattern: the byte that new memory is filled with; None leaves it undetermined.
    leave_block: called before a storage's elements move out of a block of Lua's. Views that Lua
    made refer to the block alone; from then on they must keep the storage. The engine sets it.
    """

    def __init__(self) -> None:
        self.meter = Meter()
        self.fill_pattern: int | None = None
        self.leave_block: Callable[[Any], None] | None = None
        self._pool = Pool(self.meter)

    @uninterruptible
    def allocate(self, count: int, dtype: DType) -> Array:
        """New memory for ``count`` elements, undetermined; counted until the storage frees it."""
        if not count:
            return _nothing(dtype)
        nbytes = count * dtype.size
        if nbytes < 0 or nbytes >= 1 << 62:
            raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
        self.meter.add(nbytes)
        try:
            data = self._new(count, nbytes, dtype)
        except MemoryError:
            self.meter.remove(nbytes)
            raise TorchError(not_enough(nbytes)) from None
        if self.fill_pattern is not None:
            data.view(np.uint8)[...] = self.fill_pattern
        return data

    def _new(self, count: int, nbytes: int, dtype: DType) -> Array:
        try:
            return self._take(count, nbytes, dtype)
        except MemoryError:
            self.collect()
            self.trim()
            _check_room(nbytes)
            return self._take(count, nbytes, dtype)

    def _take(self, count: int, nbytes: int, dtype: DType) -> Array:
        if nbytes < Pool.MIN_BYTES:
            return np.empty(count, dtype.numpy)
        if nbytes >= _LARGE and not self._pool.has(nbytes):
            _check_room(nbytes)
        return self._pool.take(nbytes).view(dtype.numpy)

    def recycle(self, storage: Any) -> None:
        """Keep the memory from `allocate` that a storage no longer needs.

        It is not kept where something else refers to it, such as an array that still uses it.
        """
        data = storage.data
        memory = data.base
        if data.nbytes < Pool.MIN_BYTES or not isinstance(memory, np.ndarray):
            return
        if memory.dtype != np.uint8 or memory.ndim != 1:
            return  # not from `allocate`
        # Referred to by the storage's attribute, our variables, and what Python needs for calls;
        # but not by arguments of ours, which from 3.14 on may borrow the caller's reference.
        if sys.getrefcount(data) <= _OF_DATA and sys.getrefcount(memory) <= _OF_BASE:
            self._pool.give(memory)

    def collect(self) -> None:
        """Run Lua's collector, so that the Python objects that a program has dropped are freed."""
        if self.meter.collect is not None:
            self.meter.collect()  # frees the program's userdata
            self.meter.collect()  # frees lupa's userdata of the object, which the first one kept

    def trim(self) -> None:
        """Give memory that is kept for later back to the system."""
        self._pool.shrink(0)
        give_pages_back()

    def close(self) -> None:
        """Keep no memory and call Lua no more."""
        self.meter.collect = self.leave_block = None
        self.meter.limit = 0  # what storages give back later is not kept
        self.trim()


def _check_room(nbytes: int) -> None:
    """Raise MemoryError if the machine has no room for so many bytes."""
    if limit_data() < nbytes:
        raise MemoryError


@cache
def _nothing(dtype: DType) -> Array:
    # One for all: a file can ask for very many empty storages in few bytes.
    return np.empty(0, dtype.numpy)


def _count_references(storage: Any) -> tuple[int, int]:
    data = storage.data
    memory = data.base
    return sys.getrefcount(data), sys.getrefcount(memory)


# What `recycle` finds for an array that only one storage refers to, and for its base: each Python
# counts what a call needs in its own way.
_OF_DATA, _OF_BASE = _count_references(SimpleNamespace(data=np.empty(1)[:1]))


def bytes_at(address: int, count: int) -> memoryview:
    """Memory of somebody else's, to be read and written."""
    return memoryview((ctypes.c_char * count).from_address(address)).cast("B")


class Slots:
    """Fixed-size blocks of memory with addresses that never move: the C mirror's structs.

    A slot is (bytes, offset, address); it is free again after ``release``.
    """

    SIZE = 192
    _PER_SLAB = 1024

    def __init__(self) -> None:
        self._free: list[tuple[memoryview, int, int]] = []

    def acquire(self) -> tuple[memoryview, int, int]:
        """Return a free slot; its contents are undetermined."""
        try:
            return self._free.pop()
        except IndexError:
            memory = ctypes.create_string_buffer(self.SIZE * self._PER_SLAB)
            slab, base = memoryview(memory).cast("B"), ctypes.addressof(memory)
            slots = [(slab, at, base + at) for at in range(0, len(slab), self.SIZE)]
            self._free += slots[1:]
            return slots[0]

    def foreign(self, address: int, keeper: object) -> tuple[Any, ...]:
        """Return a slot in memory of somebody else's, which keeper keeps alive."""
        return bytes_at(address, self.SIZE), 0, address, keeper

    def release(self, slot: tuple[Any, ...]) -> None:
        """Give a slot back; nobody may read it any more."""
        if len(slot) == 3:
            self._free.append(slot)


SLOTS = Slots()
