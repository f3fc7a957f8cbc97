"""Tables are compared by their contents, in whatever notation they stand."""

import pytest

from tests.data_files import data
from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.tables import same_tables

DEEP = "{{" * 40


@pytest.mark.parametrize(
    ("expected", "got"),
    data(__file__, "test_same")
)  # fmt: skip
def test_same(expected: str, got: str) -> None:
    assert same_tables(expected, got, agrees)
    assert same_tables(got, expected, agrees) or "0.33" in expected


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("{10,40}", "{\n  1 : 40\n  2 : 10\n}\n"),
        ("{10}", "{\n  1 : 10\n  2 : 40\n}\n"),
        ("{'a '}", "{'a'}"),
        ("{a=1}", "{b=1}"),
        ("{{1},2}", "{{1,2}}"),
        ("{1} {2}", "{\n  1 : 1\n}\n"),
        ("{1, 1 = 2}", "{2}"),
        ("{[{1}] = 2}", "{[{1}] = 2}"),
        ("{'1", "{'1"),
        ("{1", "{1"),
        ("1", "1"),
        ("{1}", ""),
        (DEEP + "}}" * 40, DEEP + "}}" * 40),
    ],
)
def test_different(expected: str, got: str) -> None:
    assert not same_tables(expected, got, agrees)
