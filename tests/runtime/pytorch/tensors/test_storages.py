"""Storages of tensors: typed ones and those of bytes, sharing and resizing."""

from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from th_shell.runtime.core.memory import Memory
from th_shell.runtime.core.state import current
from th_shell.torch.base.warn import warn_once

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_storage_is_the_tensors_memory() -> None:
    tensor = torch.tensor([[4.0, 1.0], [5.0, 3.0]])
    storage = tensor.storage()
    storage[0] = 2
    assert tensor.tolist() == [[2, 1], [5, 3]]
    assert storage.tolist() == [2, 1, 5, 3]
    assert (storage.size(), storage.nbytes(), storage.dtype) == (4, 16, torch.float32)
    assert storage.data_ptr() == tensor.data_ptr() == tensor[:1].storage().data_ptr()


def test_bytes_of_a_storage_are_one_object() -> None:
    tensor = torch.tensor([1, 2], dtype=torch.int16)
    assert tensor.untyped_storage() is tensor[1:].untyped_storage()
    assert tensor.untyped_storage().tolist() == [1, 0, 2, 0]
    assert tensor.storage() is not tensor.storage()
    assert tensor.storage() != tensor.storage()  # as in PyTorch


def test_bytes_are_made() -> None:
    storage = torch.UntypedStorage([1, 2, 3])
    storage[1] = 7
    assert storage.tolist() == [1, 7, 3]
    assert torch.UntypedStorage(2).tolist() == [0, 0]


def test_views_follow_a_storage_that_moves() -> None:
    tensor = torch.arange(6).view(2, 3)
    view, column = tensor[1], tensor[:, 2]
    tensor.untyped_storage().resize_(80_000)
    tensor[1, 2] = 50
    assert view.tolist() == [3, 4, 50]
    assert column.tolist() == [2, 50]
    assert view.data_ptr() == tensor.data_ptr() + 24


def test_storage_that_has_become_too_small() -> None:
    tensor = torch.ones(3, 2)
    tensor.storage().resize_(2)
    with pytest.raises(RuntimeError) as raised:
        tensor.tolist()
    assert str(raised.value) == (
        "setStorage: sizes [3, 2], strides [2, 1], storage offset 0, and itemsize 4 requiring a "
        "storage size of 24 are out of bounds for storage of size 8"
    )
    assert tensor.storage().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (10, IndexError, "index 10 out of range for storage of size 2"),
        (-3, IndexError, "index -3 out of range for storage of size 2"),
        (
            "a",
            RuntimeError,
            "can't index a <class 'torch.storage.TypedStorage'> with <class 'str'>",
        ),
    ],
)
def test_wrong_index(index: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        torch.ones(2).storage()[index]
    assert str(raised.value) == message


def test_removal_is_warned_of_once() -> None:
    warn_once.cache_clear()
    with pytest.warns(UserWarning, match="TypedStorage is deprecated") as given:
        torch.ones(1).storage()
        torch.ones(1).storage()
    assert len(given) == 1
    assert given[0].filename == __file__


@pytest.mark.unguarded("memory is not recycled")
def test_memory_of_large_tensors_is_used_again() -> None:
    count = (1 << 20) + 12_345  # which no other test has
    pool = current(Memory)._pool
    ones = torch.ones(count)
    made = ones + 1
    assert not pool.has(4 * count)
    address = made.data_ptr()
    del made
    assert pool.has(4 * count)
    again = ones * 3
    assert again.data_ptr() == address
    assert not pool.has(4 * count)


def test_array_of_a_dead_tensor_keeps_its_elements() -> None:
    array = (torch.ones(1 << 20) + 1).numpy()
    others = [torch.ones(1 << 20) * 5 for _ in range(3)]
    assert others[0][0] == 5
    assert np.all(array == 2)
