"""Tables are compared by their contents, in whatever notation they stand."""

import pytest

from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.tables import same_tables

DEEP = "{{" * 40


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("{10,40}", "{\n  1 : 10\n  2 : 40\n}\n"),
        ("{10,40}", "{\n  2 : 40\n  1 : 10\n}\n"),
        ("{ {'a','b'}, {c} }", '{\n  1 : \n    {\n      1 : "a"\n      2 : "b"\n    }\n'
         '  2 : \n    {\n      1 : "c"\n    }\n}\n'),
        ("{one=2,two=3}", "{two=3,one=2}"),
        ("{\n  line = 10,\n  file = 'a.c';\n}", '{\n  file = "a.c",\n  line = 10\n}'),
        ("{first name, last}", '{"first name","last"}'),
        ("{['a b'] = 1, [2] = .5}", "{\n  a b : 1\n  2 : 0.5\n}"),
        ("{0.33}", "{\n  1 : 0.33333333333333\n}"),
        ("{'it\\'s', \"a, b\"}", "{\"it's\", 'a, b'}"),
        ("{}", "{\n}\n"),
    ],
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
