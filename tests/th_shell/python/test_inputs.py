"""Where inputs of Python end, and what of a pasted text is an input."""

from __future__ import annotations

import pytest

from th_shell.python.inputs import inputs, is_page, wants_more
from th_shell.python.session import PythonSession


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("x = 1", False),
        ("x = (", True),
        ("x = (1,\n2)", False),
        ("x = '''a", True),
        ("x = '''a\n\n", True),
        ("x = 1 +", False),  # wrong, whatever comes
        ("x = 1 \\", True),
        ("if x:", True),
        ("if x:\n    y", True),
        ("if x:\n    y\n", False),
        ("if x:\n    y\n    ", False),
        ("if x: y", True),
        ("if x: y\n", False),
        ("if x:\n    y\n\nz = 1", False),
        ("x = 1\nfor i in x:\n    y", True),
        ("def f():\n    return 1\nf()", False),
        ("@f", True),
        ("match x:\n    case 1:\n        y", True),
        ("# a comment", False),
        ("?if", False),
        ("%time for i in x:", True),
        ("%time for i in x:\n    y\n", False),
        ("%time x", False),
        ("%%time\nfor i in x:", True),
        ("%cd (", False),
        ("$ ls (", False),
        ("!ls '", False),
        ("    if x:\n        y", True),
        ("    if x:\n        y\n", False),
        (">>> x", False),
        (">>> if x:\n...     y", False),
        (">>> x = (", True),
        ("def f():\n    '''doc\n    >>> f()\n    1", True),
    ],
)
def test_whether_an_input_goes_on(text: str, expected: bool) -> None:
    assert wants_more(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# nothing", []),
        ("x = 1\ny", ["x = 1\ny"]),
        ("\n  \nx", ["x"]),
        ("for i in x:\n    y\n    ", ["for i in x:\n    y"]),
        ("    x = 1\n    y", ["x = 1\ny"]),
        ("x?", ["?x"]),
        ("torch.cat??", ["??torch.cat"]),
        ("%%time\nx = 1\ny", ["%time \nx = 1\ny"]),
        (">>> x = 1", ["x = 1"]),
        (">>> x = 1\n>>> x\n1\n", ["x = 1", "x"]),
        (">>> if x:\n...     y\n...\n3\n>>> z", ["if x:\n    y", "z"]),
        ("The page says\n>>> x\n1\nand ends", ["x"]),
        ("In [1]: x = 1\n   ...: y = 2\n\nIn [2]: x\nOut[2]: 1\n", ["x = 1\ny = 2", "x"]),
        ("    >>> x\n    1\n", ["x"]),
        ("def f():\n    '''\n    >>> f()\n    '''", ["def f():\n    '''\n    >>> f()\n    '''"]),
    ],
)
def test_the_inputs_of_a_text(text: str, expected: list[str]) -> None:
    assert inputs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> x", True),
        ("x >> y", False),
        ("s = '''\n>>> x", False),
        ("In [3]: x", True),
        ("In [1]: x = 1\nIn [2]: x", True),
    ],
)
def test_what_is_a_page(text: str, expected: bool) -> None:
    assert is_page(text) is expected


@pytest.mark.parametrize("text", ["exit", " exit() ", "quit", "quit()"])
def test_what_ends_a_session(text: str) -> None:
    session = PythonSession({})
    assert session.is_exit(text) and not session.is_exit(f"x = {text}")
