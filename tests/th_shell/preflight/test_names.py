"""What th --check says of names: undefined globals, misspelt members, methods and fields."""

import pytest

from tests.data_files import data
from tests.th_shell.preflight.conftest import Check


@pytest.mark.parametrize(
    ("source", "expected"),
    data(__file__, "test_what_is_found")
)  # fmt: skip
def test_what_is_found(check: Check, source: str, expected: str) -> None:
    found = [one for one in check(source, columns=True) if "not installed" not in one]
    assert found == [expected]


@pytest.mark.parametrize(("source", "expected"), data(__file__, "test_notes"))
def test_notes(check: Check, source: str, expected: str) -> None:
    found = check(source, columns=True, notes=True)
    assert [one for one in found if "global that" not in one] == [expected] * bool(expected)


@pytest.mark.sample(17)
@pytest.mark.parametrize("source", data(__file__, "test_what_is_left_alone"))
def test_what_is_left_alone(check: Check, source: str) -> None:
    said = [one for one in check(source) if "install" not in one]
    assert said == []


def test_what_a_file_beside_it_defines(check: Check) -> None:
    assert check("print(other)") != []
    assert check("print(other)", "function other() end") == []
    assert check("print(other)", beside="local x\nother = 1") == []


def test_a_file_beside_it_that_only_asks(check: Check) -> None:
    assert check("print(other)", beside="print(other == 1)") != []
