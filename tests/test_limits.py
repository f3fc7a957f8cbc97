"""The limits are found in Python and in Lua, however their numbers are written."""

from tests.data_files import data
from tests.limits import limits


def test_known_limits() -> None:
    known = dict(data(__file__, "test_known_limits"))
    assert {name: limits().get(name) for name in known} == known


def test_all_are_sizes_for_tests() -> None:
    assert all(8 <= number <= 200_000 for number in limits().values())
    assert len(set(limits().values())) > 20
