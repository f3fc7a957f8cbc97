"""`import torch` is this project's torch; each test is a program in a process of its own."""

import os
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.conftest import TOP, Run

MISSING = "th's torch does not have it; --torch installed runs the program with PyTorch itself"


@pytest.mark.thorough
@pytest.mark.parametrize("line", data(__file__, "test_torch_is_the_face"))
@pytest.mark.unguarded("numpy is loaded from the start")
def test_torch_is_the_face(python: Run, line: str) -> None:
    done = python("-c", line)
    assert (done.stdout, done.stderr) == ("True\n", "")


def told(name: str, what: str = "networks and their training") -> str:
    return f"NotImplementedError: {name} ({what} are not provided here): {MISSING}"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import torch.no", f"ModuleNotFoundError: No module named 'torch.no': {MISSING}"),
        ("import torch.utils.no as n", f"No module named 'torch.utils.no': {MISSING}"),
        ("from torch import no", f"ImportError: cannot import name 'no' from 'torch': {MISSING}"),
        ("import torch.nn.functional as F; F.relu(1)", told("torch.nn.functional.relu")),
        (
            "from torch.utils.data import DataLoader as D; D([])",
            told("torch.utils.data.DataLoader"),
        ),
        ("from torch import nn\nclass Net(nn.Module): pass", told("torch.nn.Module")),
        ("from torch.linalg import no", f"cannot import name 'no' from 'torch.linalg': {MISSING}"),
        ("from torch.fft import fft; fft(1)", told("torch.fft.fft", "complex numbers")),
    ],
)
def test_what_the_face_does_not_have(python: Run, line: str, message: str) -> None:
    done = python("-c", line)
    assert done.returncode == 1
    assert done.stderr.endswith(f"{message}\n")
    assert "alias.py" not in done.stderr and "importlib" not in done.stderr


def test_the_installed_torch(python: Run, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("name = 'another'")
    path = os.pathsep.join([str(tmp_path), str(TOP)])
    done = python("--torch", "installed", "-c", "import torch; print(torch.name)", PYTHONPATH=path)
    assert (done.stdout, done.stderr) == ("another\n", "")


PROCESSES = data(__file__, "PROCESSES")


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_processes_of_a_program_have_it(python: Run, tmp_path: Path, how: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROCESSES)
    done = python(str(program), how)
    assert (done.stdout, done.stderr) == ("[2.0, 2.0] [2.0, 2.0] 3\n", "")
