"""What checkers of types know of the module is what it has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_python
from th_shell.torch.listing import stubs

TOP = Path(__file__).parents[3]
PROGRAM = Path(__file__).parent / "typed" / "program.py"
WRONG = """\
import th_shell.torch as torch
from th_shell import load

torch.nothing
torch.ones(2).add("1")
torch.ones(2).sun()
torch.tril(1.5)
load("x.t7")["weight"]
"""


def test_the_stubs_are_up_to_date() -> None:
    for path, text in stubs().items():
        assert path.read_text() == text, "write them: python -m th_shell.torch.listing"


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    return path


@pytest.mark.slow
def test_mypy(wrong: Path, tmp_path: Path) -> None:
    words = ["-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    done = run_python(*words, str(PROGRAM), wrong.name, env={"MYPYPATH": str(TOP)}, cwd=tmp_path)
    lines = [
        line.partition("error: ")[2]
        for line in done.stdout.splitlines()
        if line.startswith("wrong")
    ]
    assert lines[:4] == [
        'Module has no attribute "nothing"  [attr-defined]',
        'Argument 1 to "add" of "Methods" has incompatible type "str"; expected "Tensor | float"'
        "  [arg-type]",
        '"Tensor" has no attribute "sun"  [attr-defined]',
        'Argument 1 to "tril" has incompatible type "float"; expected "Tensor"  [arg-type]',
    ]
    assert lines[4].endswith("is not indexable  [index]") and PROGRAM.name not in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pyright"), reason="pyright is not installed")
def test_pyright(wrong: Path, tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{TOP}"]}}')
    words = ["pyright", "-p", str(tmp_path), "--pythonpath", sys.executable]
    shutil.copy(PROGRAM, tmp_path)
    done = subprocess.run(words, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if " - error: " in line]
    assert {line.split(":")[1] for line in lines} == {"4", "5", "6", "7", "8"}
    assert all("wrong.py" in line for line in lines)
