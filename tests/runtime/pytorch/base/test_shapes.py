"""torch.Size: a tuple that stays one of sizes."""

import copy
import pickle

import numpy as np
import pytest

from th_shell.torch.base.shapes import Size, size_of


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (Size(), "torch.Size([])"),
        (Size([2, 3]), "torch.Size([2, 3])"),
        (Size(n for n in (1, 2)), "torch.Size([1, 2])"),
        (size_of((4, 5)), "torch.Size([4, 5])"),
        (Size([2, 3])[:1], "torch.Size([2])"),
        (Size([2, 3])[::-1], "torch.Size([3, 2])"),
        (Size([2, 3]) + (4,), "torch.Size([2, 3, 4])"),
        ((4,) + Size([2, 3]), "torch.Size([4, 2, 3])"),
        (copy.deepcopy(Size([2, 3])), "torch.Size([2, 3])"),
        (pickle.loads(pickle.dumps(Size([2, 3]))), "torch.Size([2, 3])"),
        (Size([2, 3])[1], "3"),
        (Size([2]) + np.array([3]), "array([5])"),
        (Size, "<class 'torch.Size'>"),
        (Size.__name__, "'Size'"),
    ],
)
def test_text(size: object, text: str) -> None:
    assert repr(size) == text


def test_equals_a_tuple() -> None:
    assert Size([2, 3]) == (2, 3)
    assert hash(Size([2, 3])) == hash((2, 3))
    assert Size([2, 3]) != [2, 3]


@pytest.mark.parametrize(("sizes", "count"), [((), 1), ((2, 3), 6), ((0, 3), 0)])
def test_numel(sizes: tuple[int, ...], count: int) -> None:
    assert Size(sizes).numel() == count
