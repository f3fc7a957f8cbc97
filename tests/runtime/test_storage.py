"""``Storage``: memory, views of memory, and the C struct."""

import ctypes
import gc
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import Mock

import numpy as np
import pytest

from tests.data_files import data
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, DTYPES, INT
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.memory import Memory
from th_shell.runtime.core.state import current
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage

Double, Int, Byte = (STORAGE_CLASSES[dtype.index] for dtype in (DOUBLE, INT, BYTE))


class Mirror(ctypes.Structure):
    """The reference's THStorage, its leading members."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_ssize_t),
        ("refcount", ctypes.c_int),
        ("flag", ctypes.c_char),
    ]


def numbers(*values: float) -> Storage:
    storage = Double.new(len(values))
    storage.data[:] = values
    return storage


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_new(dtype: object) -> None:
    storage = STORAGE_CLASSES[dtype.index].new(3)  # type: ignore[attr-defined]
    assert (storage.size, storage.data.dtype) == (3, dtype.numpy)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [-1, 1 << 61, 1 << 70])
def test_impossible_size(size: int) -> None:
    message = r"^\$ Torch: invalid memory size -- maybe an overflow\?$"
    with pytest.raises(TorchError, match=message):
        Double.new(size)


def test_view_shares_memory() -> None:
    storage = numbers(1, 2, 3, 4)
    view = Double.view_of(storage, 1, 2)
    view.data[0] = 9
    storage.data[2] = 8
    assert (storage.data.tolist(), view.data.tolist()) == ([1, 9, 8, 4], [9, 8])


@pytest.mark.parametrize(("offset", "size", "message"), data(__file__, "test_view_out_of_bounds"))
def test_view_out_of_bounds(offset: int, size: int, message: str) -> None:
    with pytest.raises(TorchError, match=f"^{message}$"):
        Double.view_of(numbers(1, 2, 3), offset, size)


def test_view_cannot_be_resized() -> None:
    with pytest.raises(TorchError, match="^Trying to resize storage that is not resizable$"):
        Double.view_of(numbers(1, 2, 3), 0, 2).resize(5)


def test_view_outlives_its_source() -> None:
    view = Double.view_of(numbers(*range(1000)), 500, 2)
    gc.collect()
    other = np.full(1000, -1.0)
    assert (view.data.tolist(), other.sum()) == ([500, 501], -1000)


@pytest.mark.parametrize(("size", "kept"), [(2, [1, 2]), (3, [1, 2, 3]), (5, [1, 2, 3]), (0, [])])
def test_resize_keeps_the_first(size: int, kept: list[float]) -> None:
    storage = numbers(1, 2, 3)
    storage.resize(size)
    assert (storage.size, storage.data[:3].tolist()) == (size, kept)


def test_copy_converts() -> None:
    storage = Int.new(3)
    storage.copy(numbers(1.9, -1.9, 3e9))
    assert storage.data.tolist() == [1, -1, -(2**31)]


def test_copy_of_another_size() -> None:
    with pytest.raises(ArgError, match=r"^bad argument #2 \(size mismatch\)$") as caught:
        numbers(1, 2).copy(numbers(1))
    assert (caught.value.arg, caught.value.detail) == (2, "size mismatch")


def test_over_raw_memory() -> None:
    memory = (ctypes.c_double * 3)(1, 2, 3)
    storage = Double.at_address(ctypes.addressof(memory), 3)
    storage.data[1] = 9
    assert list(memory) == [1, 9, 3]
    with pytest.raises(TorchError, match="^Trying to resize storage that is not resizable$"):
        storage.resize(2)


def test_null_pointer() -> None:
    with pytest.raises(ArgError, match=r"^bad argument #2 \(null pointer\)$"):
        Double.at_address(0, 1)


PAGE = mmap.PAGESIZE


@contextmanager
def mapped(pages: int, protection: int) -> Iterator[int]:
    """The address of fresh pages, behind which the process has none."""
    length, calls = ctypes.c_size_t((pages + 1) * PAGE), ctypes.CDLL(None)
    calls.mmap.restype = ctypes.c_void_p
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = calls.mmap(None, length, 0, flags, -1, ctypes.c_long(0))
    calls.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(pages * PAGE), protection)
    try:
        yield address
    finally:
        calls.munmap(ctypes.c_void_p(address), length)


READ, WRITE = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE


@pytest.mark.parametrize(
    ("protection", "start", "count"),
    [(READ, 0, 1), (WRITE, PAGE, 1), (WRITE, PAGE - 8, 2), (WRITE, 0, 1 << 40)],
)
def test_memory_that_cannot_be_written(protection: int, start: int, count: int) -> None:
    with mapped(1, protection) as address:
        if protection == WRITE:
            Double.at_address(address, PAGE // 8).data[-1] = 1
        refuse(address + start, count)
    refuse(address, 1)  # it was known before, and is no more


def refuse(address: int, count: int) -> None:
    with pytest.raises(ArgError) as raised:
        Double.at_address(address, count)
    assert raised.value.detail == (
        f"pointer expected: there are no {8 * count} bytes at {address:#x} that this process may "
        "write; a storage has one size"
    )


@pytest.mark.parametrize("number", [2, 8, 4096, -1, 2**52])
def test_a_size_is_no_pointer(number: int) -> None:
    refuse(number, 1)
    assert Double.at_address(number, 0).size == 0


def test_memory_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with mapped(4, WRITE) as address:
        Double.at_address(address, 1)
        monkeypatch.setattr("builtins.open", None)
        Double.at_address(address + PAGE, 2 * PAGE // 8).data.fill(1)


def test_where_nothing_tells_a_pointer_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("th_shell.runtime.core.memory.c_function", lambda _: None)
    monkeypatch.setattr("builtins.open", Mock(side_effect=FileNotFoundError))
    assert Double.at_address(8, 1).size == 1


def test_mirror_follows() -> None:
    storage = numbers(1, 2)
    mirror = Mirror.from_address(storage.mirror())
    assert (mirror.size, mirror.refcount) == (2, 1)
    storage.resize(4)
    storage.count_references(1)
    assert (mirror.size, mirror.data, mirror.refcount) == (4, storage.data.ctypes.data, 2)
    storage.resize(0)
    assert (mirror.size, mirror.data) == (0, None)
    assert Storage.at_mirror(storage.mirror()) is storage


def test_memory_is_counted_while_it_lives() -> None:
    gc.collect()
    meter = current(Memory).meter
    before = meter.live
    storage = Byte.new(1000)
    assert meter.live == before + 1000
    storage.resize(3000)
    assert meter.live == before + 3000
    view = Byte.view_of(storage, 0, 10)
    del storage
    assert meter.live == before + 3000
    del view
    gc.collect()
    assert meter.live == before


def test_storage_whose_making_was_ended_ends_quietly() -> None:
    storage = Double.__new__(Double)
    storage.__del__()
    storage.data = np.ones(3)
    storage.__del__()
