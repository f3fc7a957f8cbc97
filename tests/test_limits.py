"""The limits are found in Python and in Lua, however their numbers are written."""

from __future__ import annotations

import pytest

from tests.limits import limits


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("lua/tensor/blocks.lua MAX", 16_000),  # { MAX = … }
        ("lua/tensor/formulas.lua MAX_IN_LUA", 32_768),  # local … = … -- with a comment
        ("lua/tensor/layouts.lua MANY_ROWS", 1024),  # local two, names = …
        ("lua/files/text.lua PIECE", 65_536),  # 2 ^ 16
        ("compute/thread_pool.py LARGE", 100_000),
        ("t7/binary.py _LARGE_STORAGE", 16_384),  # 16 << 10
    ],
)
def test_known_limits(name: str, number: int) -> None:
    assert limits()[name] == number


def test_all_are_sizes_for_tests() -> None:
    assert all(8 <= number <= 200_000 for number in limits().values())
    assert len(set(limits().values())) > 20
