"""The scripts of the checkout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

WITH = Path(__file__).parents[1] / "scripts" / "_with"
MISSING = "There is no python3.98 here, neither on the PATH nor of pyenv.\n"


@pytest.mark.parametrize(
    ("shim", "found"),
    [
        (None, False),
        ("exit 127", False),  # as pyenv's, of a version that is not chosen
        ("exit 1", False),  # another version
        ('[ "$4" = 3.98 ]', True),
    ],
)
def test_a_python_is_looked_for(shim: str | None, found: bool, tmp_path: Path) -> None:
    if shim is not None:
        (tmp_path / "python3.98").write_text(f"#!/bin/sh\n{shim}\n")
        (tmp_path / "python3.98").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYENV_ROOT": str(tmp_path / "pyenv")}
    command = [str(WITH), "3.98", "find"]
    done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=60)
    expected = ("", 0) if found else (MISSING, 1)
    assert (done.stdout, done.stderr, done.returncode) == ("", *expected)


def test_a_python_of_pyenv(tmp_path: Path) -> None:
    python = tmp_path / "versions" / "3.98.1" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    env = {**os.environ, "PYENV_ROOT": str(tmp_path)}
    assert subprocess.run([str(WITH), "3.98", "find"], env=env, timeout=60).returncode == 0
