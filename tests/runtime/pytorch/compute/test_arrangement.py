"""The order of equal elements: checksums of positions that PyTorch 2.15 gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.core.dtypes import Array
from runtime.pytorch.compute.arrangement import kth_position, nth_position, sort_order, top_order


def keys(n: int, different: int) -> Array:
    at = np.arange(n)
    return (at**2 * 7919 + at * 13) % different


def killer(n: int) -> Array:
    """Keys of which the median of three is always among the smallest, two of each."""
    half = n // 2
    found = np.zeros(n, np.int64)
    for i in range(1, half + 1):
        if i % 2:
            found[i - 1 : i + 1] = i, half + i
        found[half + i - 1] = 2 * i
    return found // 2


def checksum(at: Array) -> int:
    return int((at * np.arange(1, len(at) + 1)).sum() % 1000003)


@pytest.mark.parametrize(
    ("row", "ordered", "top", "unordered", "few", "kth"),
    [
        (keys(17, 3), 1093, 114, 114, 10, 15),
        (keys(18, 1), 1041, 276, 276, 11, 16),
        (keys(40, 7), 15818, 1750, 1750, 11, 31),
        (keys(100, 2), 197226, 36198, 43156, 0, 97),
        (keys(300, 11), 765869, 826681, 694579, 17, 141),
        (keys(2000, 40), 815246, 360443, 603428, 39260, 1830),
        (keys(1000, 1), 867151, 707428, 375698, 351, 997),
        (killer(64), 74836, 5906, 5619, 0, 20),
        (killer(1000), 551802, 123828, 185253, 15474, 332),
    ],
)
def test_positions_are_pytorchs(
    row: Array, ordered: int, top: int, unordered: int, few: int, kth: int
) -> None:
    # Rows are independent: between others a row gives the same.
    rows = np.stack([row[::-1], row, np.zeros_like(row)])
    k, less = len(row) // 3, max(1, len(row) // 80)
    assert checksum(sort_order(rows)[1]) == ordered
    assert checksum(top_order(rows, k, True)[1]) == top
    assert checksum(top_order(rows, k, False)[1]) == unordered
    assert checksum(top_order(rows, less, True)[1]) == few
    assert kth_position(rows, k)[1] == kth


@pytest.mark.thorough
@given(st.lists(st.integers(0, 9), min_size=1, max_size=90), st.data())
def test_positions_are_of_the_right_elements(row: list[int], data: st.DataObject) -> None:
    rows = np.array([row])
    k = data.draw(st.integers(1, len(row)))
    in_order = np.sort(rows[0])
    order = sort_order(rows)[0]
    assert sorted(order) == list(range(len(row)))
    assert (rows[0, order] == in_order).all()
    assert (rows[0, top_order(rows, k, True)[0]] == in_order[:k]).all()
    assert (np.sort(rows[0, top_order(rows, k, False)[0]]) == in_order[:k]).all()
    assert rows[0, kth_position(rows, k)[0]] == rows[0, nth_position(rows, k)[0]] == in_order[k - 1]
