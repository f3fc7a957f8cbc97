"""`? name` and `?? name` at the Python prompt."""

from typing import Any

import pytest

from tests.data_files import data
from th_shell.python.help import about, overview, source


def doubled(x: float, by: int = 2) -> float:
    """Several times a number.

    More lines.
    """
    return x * by


def bare(x): ...  # type: ignore[no-untyped-def]


def formed(*args: Any) -> None:
    """formed(Tensor input)
    formed(int n)

    What has two forms.
    """


class Pair:
    """Two values."""

    def __init__(self, first: int) -> None:
        self.first = first

    @property
    def second(self) -> int:
        raise AssertionError

    @property
    def third(self):  # type: ignore[no-untyped-def]
        raise AssertionError

    def __repr__(self) -> str:
        return "a pair"


NAMES: dict[str, Any] = {
    "doubled": doubled,
    "bare": bare,
    "formed": formed,
    "Pair": Pair,
    "pair": Pair(1),
    "x": [1, 2],
    "torch": None,
}


@pytest.mark.parametrize(("name", "text"), data(__file__, "test_what_is_told"))
def test_what_is_told(name: str, text: str) -> None:
    told = about(name, NAMES)
    if told.startswith(("pair.first", "pair.second", "x:")):
        told = told.partition("\n")[0] + "\n"  # without what Python says of int and list
    assert told == text


def test_the_source_of_a_function() -> None:
    assert source("bare", NAMES) == "def bare(x): ...  # type: ignore[no-untyped-def]\n"
    assert source("x", NAMES) == about("x", NAMES)


def test_the_overview_fits_on_a_screen() -> None:
    lines = overview().splitlines()
    assert len(lines) <= 22 and max(map(len, lines)) <= 80
