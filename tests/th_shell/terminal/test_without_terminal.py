from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest

from th_shell.session.session import Session
from th_shell.terminal.without_terminal import read_and_run


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"1\n2", "1\t\n2\t\n"),
        (b"function f()\n  return 3\nend\nf()\n", "3\t\n"),
        (b"1\nexit\n2\n", "1\t\n"),
        (b"x = {\n", "syntax error: stdin:1: unexpected symbol near '<eof>'\n"),
        (b"", ""),
        (b"x = [[a   \n b]]\n#x\n", "7\t\n"),
        (b"-- a\fprint(1)\n2\n", "2\t\n"),
    ],
)
def test_inputs_come_line_by_line(
    session: Session, printed: Callable[[], str], source: bytes, expected: str
) -> None:
    read_and_run(session, StringIO(source.decode()).readline)
    assert printed() == expected
