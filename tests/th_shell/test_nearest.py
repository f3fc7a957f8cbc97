from __future__ import annotations

import pytest

from th_shell.nearest import nearest, slip_of

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


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("rnadn", "randn"),
        ("ofrward", "forward"),
        ("forwrad", "forward"),
        ("forwardd", "forward"),
        ("fowward", "forward"),
        ("forard", "forward"),
        ("a_bcd", "ab_cd"),
        ("sdg", "sgd"),
    ],
)
def test_slips(name: str, other: str) -> None:
    assert slip_of(name, ["zeros", name, other]) == other


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("params", "param"),  # one of several
        ("param", "params"),
        ("next", "net"),  # short
        ("tape", "type"),
        ("setSize", "getSize"),  # another beginning
        ("pprint", "print"),
        ("a", ""),
        ("ReLU6", "ReLU"),  # a variant
        ("layer1", "layer2"),
        ("TemporalKMaxPooling", "TemporalMaxPooling"),
        ("Print", "print"),
        ("id", "di"),
    ],
)
def test_what_is_no_slip(name: str, other: str) -> None:
    assert slip_of(name, [other]) == ""
