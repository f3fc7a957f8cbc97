"""The limits are found in Python and in Lua, however their numbers are written."""

from __future__ import annotations

import pytest

from tests.data_files import data
from tests.limits import limits


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "number"), data(__file__, "test_known_limits"))
def test_known_limits(name: str, number: int) -> None:
    assert limits()[name] == number


def test_all_are_sizes_for_tests() -> None:
    assert all(8 <= number <= 200_000 for number in limits().values())
    assert len(set(limits().values())) > 20
