"""Outputs that nearly repeat others are told from those that are other numbers."""

import pytest

from th_shell.docs.judging.plausibility import differences, nearly_repeats, unlike_above

SHOWN = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("numbers", "nearly"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.6], True),
        ([0.1, 0.2, 0.3, -0.4, 0.5], True),
        (SHOWN, False),
        ([0.1, 0.2, 0.3, 0.4], False),
        ([0.1, 0.2, 0.3, 0.8, 0.9], False),
        ([0.5, 0.4, 0.3, 0.2, 0.1], False),
    ],
)
def test_numbers_that_nearly_repeat_others(numbers: list[float], nearly: bool) -> None:
    assert nearly_repeats(numbers, SHOWN) is nearly


def test_whole_numbers_agree_by_chance() -> None:
    assert not nearly_repeats([1, 0, 1, 1, 0, 1], [1, 0, 1, 1, 0, 0])


def test_differences() -> None:
    assert differences([0.1, 0.7, 0.3], [0.1, 0.2, 0.3]) == "0.7 for 0.2"
    assert differences([1, 2, 3, 4], [5, 6, 7, 8]) == "1 for 5, 2 for 6, 3 for 7 and 1 more"


def test_an_output_is_unlike_those_above_it() -> None:
    other = [*SHOWN[:4], 0.6]
    same = dict.fromkeys((3, 5, 8), SHOWN)
    assert unlike_above({3: SHOWN, 5: SHOWN, 8: other}, same) == {8: 5}
    assert unlike_above({3: SHOWN, 5: other, 8: SHOWN}, same) == {5: 3}


def test_an_output_may_be_unlike_another_where_the_printed_ones_are() -> None:
    shown = {1: [*SHOWN, *SHOWN], 2: [*SHOWN, 0.7, 0.8, 0.9, 1.1, 1.2]}
    numbers = [0.11, 0.12, 0.13, 0.14, 0.15]
    printed = {1: [*numbers, *numbers], 2: [*numbers, 0.21, 0.22, 0.23, 0.24, 0.25]}
    assert unlike_above(shown, printed) == {}
    assert unlike_above(shown, {1: printed[1], 2: printed[1]}) == {2: 1}
    assert unlike_above(shown, {1: printed[1], 2: [number + 1 for number in printed[1]]}) == {2: 1}
