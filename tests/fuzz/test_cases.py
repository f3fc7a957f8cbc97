"""Reducing leaves what a failure needs, and findings that are probably one have one kind."""

import pytest

from tests.fuzz.cases import Case, reduced
from tests.fuzz.kinds import bad_lines, kind_of


@pytest.mark.parametrize("needed", [{0}, {19}, {3, 11}, {0, 1, 18, 19}, set(range(20))])
def test_only_what_fails_is_left(needed: set[int]) -> None:
    case = Case.of_lines([str(i) for i in range(20)])
    found = reduced(case, lambda c: needed <= {int(line) for line in c.parts})
    assert {int(line) for line in found.parts} == needed


def test_a_case_that_stops_failing_is_left_whole() -> None:
    case = Case.of_lines(["1", "2", "3"])
    assert reduced(case, lambda _: False).parts == ("1", "2", "3")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("index 4 is out of bounds for size 2", "index 11 is out of bounds for size 1e9"),
        ("FINDING NaN arrives as a nil", "NaN arrives as a table"),
        ("'struct THIntTensor' has no member", "'struct THHalfTensor' has no member"),
        ("NaN of high word fffa: nil, not number", "NaN of high word 7ff8: a, not b"),
    ],
)
def test_one_kind(text: str, other: str) -> None:
    assert kind_of(text) == kind_of(other)


def test_different_kinds() -> None:
    assert kind_of("died of SIGSEGV") != kind_of("died of SIGBUS")


def test_bad_lines_come_once_of_each_kind() -> None:
    text = "fine\nFINDING slow: 1.2 s\nFINDING slow: 3.0 s\nx: internal error: KeyError: 5\n"
    assert bad_lines(text) == ["FINDING slow: 1.2 s", "x: internal error: KeyError: 5"]
