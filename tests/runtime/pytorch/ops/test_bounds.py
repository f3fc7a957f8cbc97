"""Tensors whose storage was resized."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import th_shell.torch as torch


@pytest.fixture
def beyond() -> Any:
    """A view of the last elements of a storage that has become too small."""
    tensor = torch.arange(10.0)
    view = tensor[4:].view(2, 3)
    tensor.untyped_storage().resize_(20)
    return view


def test_elements_beyond_the_storage_are_an_error(beyond: Any) -> None:
    message = (
        "setStorage: sizes [2, 3], strides [3, 1], storage offset 4, and itemsize 4 requiring a "
        "storage size of 40 are out of bounds for storage of size 20"
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
        beyond.sum()


def test_geometry_beyond_the_storage_is_told(beyond: Any) -> None:
    assert beyond.shape == beyond.size() == (2, 3)
    assert (beyond.dim(), beyond.numel(), beyond.stride(), beyond.stride(0)) == (2, 6, (3, 1), 3)
    assert (beyond.storage_offset(), beyond.element_size(), beyond.itemsize) == (4, 4, 4)
    assert (beyond.ndimension(), beyond.nelement()) == (2, 6)


MENDS: dict[str, Callable[[Any], Any]] = {
    "resize_": lambda x: x.resize_(1),
    "set_": lambda x: x.set_(torch.ones(1)),
    "set_ to nothing": lambda x: x.set_(),
    "set_ to a storage": lambda x: x.set_(torch.ones(2).untyped_storage()),
    "its storage": lambda x: x.untyped_storage().resize_(40),
}


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_tensor_beyond_its_storage_is_mended(beyond: Any, mend: Callable[[Any], Any]) -> None:
    mend(beyond)
    beyond.fill_(1)
    assert beyond.sum().item() == beyond.numel()
