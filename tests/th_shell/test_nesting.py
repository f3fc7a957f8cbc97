"""What is open behind lines of Lua."""

import pytest

from tests.data_files import data
from th_shell.tokens import Nesting


@pytest.mark.parametrize(("lines", "is_open"), data(__file__, "test_open"))
def test_open(lines: list[str], is_open: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.is_open is is_open


@pytest.mark.parametrize(
    ("lines", "goes_on"), data(__file__, "test_what_ends_with_an_operator_goes_on")
)
def test_what_ends_with_an_operator_goes_on(lines: list[str], goes_on: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.goes_on is goes_on
