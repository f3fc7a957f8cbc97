"""Documented numbers must be like those that runs print."""

import pytest

from th_shell.docs.judging.plausibility import implausible, misshapen, unlike_fixed

#: Numbers of dice, often enough each.
DICE = [[1.0, 2, 3, 4, 5, 6] * 2, [6.0, 2, 5, 4, 1, 3] * 2, [3.0, 1, 2, 4, 5, 6] * 2] * 2
COUNTS = [[4000.0 + k, 2000.0 - k, 0.0] for k in (3, -40, 25, 11, -8, 30)]


def test_plausible_numbers() -> None:
    runs = [[0.1 * k, 1 - 0.1 * k, 0.5] for k in range(10)]
    assert implausible([0.9999, 0.0001, 0.3], runs) == ""
    assert implausible([0.5, 0.5, 7], runs) == "7 is far from what runs have printed: 0 to 1"
    assert implausible([-3.1, 2.0], [[-1.2, 1.9], [2.5, -0.3]]) == ""  # too few to tell


@pytest.mark.parametrize(
    ("numbers", "runs", "why"),
    [
        ([6, 6, 6, 6, 6, 6] * 2, [run[::-1] for run in DICE[:5]] + [[1.0] * 12], ""),
        (
            [0, 2, 3, 4, 5, 6] * 2,
            [*DICE, [1.0] * 12],
            "0 is none of what runs have printed: 1, 2, 3, 4, 5, 6",
        ),
        ([3967, 2017, 0], COUNTS, ""),
        (
            [2017, 3967, 0],
            COUNTS,
            "2017 is far from what runs have printed there: 3960 to 4030",
        ),
        ([1, 3, 12], [[1.0, 2, 5, 8], [2.0, 3, 4, 7, 9]], ""),
        (
            [9, 3, 12],
            [[1.0, 2, 5, 8], [2.0, 3, 4, 7, 9]],
            "all runs have printed ascending numbers",
        ),
        ([9, 3, 12], [[1.0, 2, 5], [2.0, 3, 4, 7, 9]], ""),  # three may be in order by chance
    ],
)  # fmt: skip
def test_whole_numbers(numbers: list[float], runs: list[list[float]], why: str) -> None:
    assert implausible(numbers, runs) == why


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["1.0000", "0.3000", "0.4000"], ""),
        (["2.0000", "0.3000", "0.4000"], "all runs have printed 1, not 2.0000"),
        (["1.0000", "0.3100", "0.4000"], ""),
        (["1.0000", "0.3000", "0.4200"], "all runs have printed 0.4, not 0.4200"),
    ],
)
def test_numbers_beside_others_by_chance(words: list[str], why: str) -> None:
    # The first number is fixed, the last one follows from numbers that the page shows above.
    adopted = [[1.0, 0.7, 0.4], [1.0, 0.2, 0.4], [1.0, 0.7, 0.4001]]
    assert unlike_fixed(words, adopted, [[1.0, 0.9, 0.1], [1.0, 0.5, 0.6]]) == why


def test_a_value_that_also_comes_by_chance_is_not_fixed() -> None:
    adopted = [[0.5, 0.5, 0.1], [0.5, 0.2, 0.5], [0.5, 0.5, 0.1]]
    assert unlike_fixed(["0.3", "0.5", "0.5"], adopted, [[0.5, 0.1, 0.4]]) == ""


def test_few_runs_may_agree_by_chance() -> None:
    runs = [[12.0, 0.0, 14.0], [12.0, 10.0, 0.0]]
    twice = [[2.5, 12.0, 0.0, 14.0], [2.5, 12.0, 0.0, 0.0]]
    assert unlike_fixed(["0", "0", "14"], [*runs, *runs], runs) == ""
    assert (
        unlike_fixed(["13", "0", "14"], [*runs, *runs], runs) == "all runs have printed 12, not 13"
    )
    assert unlike_fixed(["2.7", "0", "0", "0"], [*twice, twice[0]], twice)
    assert not unlike_fixed(["2.7", "0", "0", "0"], [*twice, [2.6, 12, 0, 14], twice[0]], twice)


def test_a_text_that_contradicts_its_own_sizes() -> None:
    ones = "\n".join(" 1" for _ in range(12))
    sizes = "[torch.DoubleTensor of dimension 3]"
    assert misshapen(f"{ones}\n{sizes}", "") == "12 numbers for 3 elements"
    assert misshapen(f" 1\n 1\n 1\n{sizes}", "") == ""
    assert misshapen(f" 1\n...\n{sizes}", "") == ""
