"""Large memory is kept for the next storage, unless something still refers to it.

Which of the two holds is read from Python's counts of references, which another Python may count
otherwise: then these tests fail.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua
from th_shell.runtime.core.dtypes import DOUBLE
from th_shell.runtime.core.memory import Memory, Meter, Pool
from th_shell.runtime.core.state import current
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.shell import Engine

DoubleStorage = STORAGE_CLASSES[DOUBLE.index]

SIZE = Pool.MIN_BYTES // 8 + 7777  # elements; of no other test

pytestmark = pytest.mark.unguarded("memory is not recycled")


@pytest.fixture(autouse=True)
def pool(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept yet, and there is room."""
    memory = current(Memory)
    memory.trim()
    monkeypatch.setattr(memory.meter, "limit", memory.meter.live + (1 << 30))


def kept() -> int:
    """How many pieces of memory of our size are kept."""
    return sum(
        len(found) for size, found in current(Memory)._pool._free.items() if size == SIZE * 8
    )


def test_memory_that_nobody_refers_to_is_recycled() -> None:
    storage = DoubleStorage.new(SIZE)
    address = storage.data.ctypes.data
    assert kept() == 0
    del storage
    assert kept() == 1
    assert DoubleStorage.new(SIZE).data.ctypes.data == address


# What else may refer to a storage's memory.
HOLDERS: dict[str, Callable[[Storage], Any]] = {
    "the elements": lambda storage: storage.data,
    "a part of them": lambda storage: storage.data[3:5],
    "one of another type": lambda storage: storage.data.view(np.int64),
    "the memory below": lambda storage: storage.data.base,
    "a buffer": lambda storage: memoryview(storage.data),
    "a list": lambda storage: [storage.data],
}


@pytest.mark.parametrize("name", HOLDERS)
def test_memory_that_something_refers_to_is_not(name: str) -> None:
    storage = DoubleStorage.new(SIZE)
    holder = HOLDERS[name](storage)
    del storage
    assert kept() == 0
    del holder


def test_what_a_caller_still_has_is_not_recycled() -> None:
    storage = DoubleStorage.new(SIZE)
    data = storage.data
    current(Memory).recycle(storage)  # it and our name refer to the elements
    assert kept() == 0 and data.size == SIZE


def test_memory_of_tensors(lua: Lua) -> None:
    # Not by collectgarbage, which gives all that is kept back to the system.
    lua(f"do local x = torch.Tensor({SIZE}):fill(1) end")
    current(Memory).collect()
    assert kept() == 1
    lua(f"x = torch.Tensor({SIZE}) y = x:narrow(1, 2, 5) x = nil")
    current(Memory).collect()
    assert kept() == 0
    lua("y = nil")
    current(Memory).collect()
    assert kept() == 1


def test_threads_take_and_give_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(Meter())
    monkeypatch.setattr(pool, "MAX_KEPT", 4000)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for number in range(3000):
            taken = [pool.take(1000 + number % 2).base, pool.take(1000).base]
            for memory in taken:
                assert isinstance(memory, np.ndarray)
                pool.give(memory)
            pool.shrink(number % 3000)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert pool._count() <= 4000
    pool.shrink(0)
    assert not pool._free
