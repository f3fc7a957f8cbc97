from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import run_python
from tests.th_shell.conftest import Run
from th_shell.python.session import PythonSession


@pytest.fixture
def python(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs `th --python` with arguments, in an empty folder and a process of its own."""

    def run(*args: str, input: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        env = environment | variables
        words = ("-I", "-m", "th_shell", "--python", *args)
        return run_python(*words, input=input, cwd=tmp_path, env=env)

    return run


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[PythonSession]:
    """A session of Python in this process."""
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    known = dict(builtins.__dict__)
    yield PythonSession({"__name__": "__main__"})
    for name in builtins.__dict__.keys() - known.keys():
        del builtins.__dict__[name]


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was written to the standard output and the standard error since the last call."""

    def read() -> str:
        found = capfd.readouterr()
        return found.out + found.err

    return read


@pytest.fixture
def write_to_descriptor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Lets Python write to the descriptor 1 from a call on, as it does outside of tests."""
    with open(1, "w", closefd=False) as out:
        yield lambda: monkeypatch.setattr("sys.stdout", out)
