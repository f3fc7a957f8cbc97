"""Python inputs without a terminal: `th --python -i`, and what is piped into `th --python`."""

from __future__ import annotations

import os
import stat
import sys
from typing import Any

from th_shell.python.session import PythonSession
from th_shell.terminal.without_terminal import read_and_run


def is_program(source: bytes) -> bool:
    """Tell whether the standard input is a file that is a program as a whole."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return False
    try:
        compile(source, "<stdin>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def run(namespace: dict[str, Any]) -> int:
    """Run the inputs on the standard input, one after the other; return the exit status."""
    # Of the same object that an input reads from, which so gets the line behind it.
    return read_and_run(PythonSession(namespace), lambda: sys.stdin.readline())


def run_piped(namespace: dict[str, Any], source: bytes) -> int:
    """Run what came on the standard input up to the first error; return the exit status."""
    session = PythonSession(namespace)
    text = source.decode("utf-8", "surrogateescape")
    for piece in session.inputs(text):
        if session.is_exit(piece):
            break
        if not session.run(piece) or session.has_failed:
            sys.stdout.flush()
            return 1
    return 0
