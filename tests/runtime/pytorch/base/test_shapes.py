"""torch.Size: a tuple that stays one of sizes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from th_shell.torch.base.shapes import Size, size_of


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (Size(), "torch.Size([])"),
        (Size([2, 3]), "torch.Size([2, 3])"),
        (Size(n for n in (1, 2)), "torch.Size([1, 2])"),
        (Size([True, np.int32(3)]), "torch.Size([1, 3])"),
        (size_of((4, 5)), "torch.Size([4, 5])"),
        (Size([2, 3])[:1], "torch.Size([2])"),
        (Size([2, 3])[::-1], "torch.Size([3, 2])"),
        (Size([2, 3]) + (4,), "torch.Size([2, 3, 4])"),
        ((4,) + Size([2, 3]), "torch.Size([4, 2, 3])"),
        (Size([2, 3]) * 2, "torch.Size([2, 3, 2, 3])"),
        (2 * Size([2]), "torch.Size([2, 2])"),
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


@pytest.mark.parametrize(
    ("sizes", "count"),
    [((), 1), ((2, 3), 6), ((0, 3), 0), ((2**62, 2), -(2**63)), ((2**62, 4), 0)],
)
def test_numel(sizes: tuple[int, ...], count: int) -> None:
    assert Size(sizes).numel() == count


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Size(2), TypeError, "'int' object is not iterable"),
    (lambda: Size((2,), (3,)), TypeError, "tuple expected at most 1 argument, got 2"),
    (
        lambda: Size([1, 1.5]),
        TypeError,
        "torch.Size() takes an iterable of 'int' (item 1 is 'float')",
    ),
    (
        lambda: Size([np.float32(2)]),
        TypeError,
        "torch.Size() takes an iterable of 'int' (item 0 is 'numpy.float32')",
    ),
    (
        lambda: Size([Size([1])]),
        TypeError,
        "torch.Size() takes an iterable of 'int' (item 0 is 'torch.Size')",
    ),
    (
        lambda: Size([2]) + ("a",),
        TypeError,
        "torch.Size() takes an iterable of 'int' (item 1 is 'str')",
    ),
    (lambda: Size([2**63]), ValueError, "Overflow when unpacking long long"),
    (
        lambda: Size([2]) + [4],
        TypeError,
        "can only concatenate tuple (not list) to torch.Size",
    ),
    (
        lambda: Size([2]) * 1.5,
        TypeError,
        "can't multiply sequence by non-int of type 'float'",
    ),
    (lambda: Size([2])[1], IndexError, "tuple index out of range"),
    (lambda: Size([2])["a"], TypeError, "tuple indices must be integers or slices, not str"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
