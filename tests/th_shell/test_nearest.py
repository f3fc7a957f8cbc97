from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.nearest import nearest, slip_of, typo_of

NAMES = (
    "rand randn random range randperm sum sub cumsum cmul narrow gather scatter add addr addmm "
    "manualSeed mm mv id ne size isSize"
).split()


@pytest.mark.parametrize(("name", "expected"), data(__file__, "test_the_nearest_names"))
def test_the_nearest_names(name: str, expected: list[str]) -> None:
    assert nearest(name, NAMES) == expected


@pytest.mark.parametrize("name", ["xyzzy", "q", "i", "im", "nope", "alpha", "resized"])
def test_names_that_are_far_from_all(name: str) -> None:
    assert nearest(name, NAMES) == []


@pytest.mark.parametrize(("name", "other"), data(__file__, "test_slips"))
def test_slips(name: str, other: str) -> None:
    assert slip_of(name, ["zeros", name, other]) == other


@pytest.mark.parametrize(("name", "other"), data(__file__, "test_what_is_no_slip"))
def test_what_is_no_slip(name: str, other: str) -> None:
    assert slip_of(name, [other]) == ""


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    data(__file__, "test_what_is_a_letter_away"),
)
def test_what_is_a_letter_away(name: str, other: str, expected: bool) -> None:
    assert typo_of(name, [other, "else"]) == (other if expected else "")
