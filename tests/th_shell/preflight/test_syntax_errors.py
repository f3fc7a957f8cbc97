"""What LuaJIT does not compile in a source."""

from __future__ import annotations

import pytest

from tests.th_shell.preflight.conftest import Check


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("x = " + "-".join("1" * 5000), 0),
        ("x = " + "(" * 5000, 1),
        ("require '" + "a" * 999 + "'", 1),
    ],
)
def test_what_is_very_long_or_deep(check: Check, source: str, count: int) -> None:
    assert len(check(source)) == count


def test_the_place(check: Check) -> None:
    assert check("local é = = 1\n\n  return 2", columns=True) == [
        "1:11: syntax error: unexpected symbol near '=': LuaJIT does not compile it; correct it",
    ]


def test_the_rest_is_still_read(check: Check) -> None:
    source = """
        require 'cutorch'
        if f then x = torch.fooo() y = = require 'nowhere' end
        lcal = torch.ones(2):bar()
    """
    assert [line.partition(":")[0] for line in check(source)] == ["2", "3", "4"]


def test_names_that_broken_lines_may_declare_are_not_told(check: Check) -> None:
    assert check("for i = 1,, 2 do\n  print(i, someName)\nend\nprint(someNmae)") == [
        "1: syntax error: unexpected symbol near ',': LuaJIT does not compile it; correct it"
    ]
