from __future__ import annotations

import random

import pytest

from tests.data_files import data
from th_shell.nearest import NameIndex, nearest, slip_of, typo_of

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


def test_an_index_finds_what_a_look_at_all_names_finds() -> None:
    chance = random.Random(3)
    names = {"".join(chance.choices("abcX_1", k=chance.randint(1, 7))) for _ in range(400)}
    index = NameIndex(names)
    near = []
    for number in range(600):
        name = "".join(chance.choices("abcX_1", k=chance.randint(1, 7)))
        around = index.around(name)
        assert slip_of(name, around, is_rare=number % 2 > 0) == slip_of(name, names, number % 2 > 0)
        assert typo_of(name, around) == typo_of(name, names)
        near.append(len(around))
    assert near[0] == len(names) and max(near[-100:]) < len(names) / 2
