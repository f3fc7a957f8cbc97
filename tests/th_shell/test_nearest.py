from __future__ import annotations

import pytest

from th_shell.nearest import nearest

NAMES = (
    "rand randn random range randperm sum sub cumsum cmul narrow gather scatter add addr addmm "
    "manualSeed mm mv id ne size isSize"
).split()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rnad", ["rand", "randn"]),
        ("summ", ["sum"]),
        ("narow", ["narrow"]),
        ("gahter", ["gather"]),
        ("manualseed", ["manualSeed"]),
        ("SUM", ["sum"]),
        ("addd", ["add", "addr", "addmm"]),
        ("siez", ["size"]),
    ],
)
def test_the_nearest_names(name: str, expected: list[str]) -> None:
    assert nearest(name, NAMES) == expected


@pytest.mark.parametrize("name", ["xyzzy", "q", "i", "im", "nope", "alpha", "resized"])
def test_names_that_are_far_from_all(name: str) -> None:
    assert nearest(name, NAMES) == []
