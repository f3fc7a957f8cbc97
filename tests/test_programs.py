"""The programs of tests/programs: they run, and type checkers know the types of th_shell."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python

TOP = Path(__file__).parents[1]
PROGRAMS = TOP / "tests" / "programs"
CHECKERS = {
    "mypy": ["mypy", "--strict", "--hide-error-context", "--no-error-summary"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


def check(name: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run a type checker, in this project's folder, with its settings."""
    command = [sys.executable, "-m", *CHECKERS[name], *map(str, paths)]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True)


@pytest.mark.thorough
@pytest.mark.parametrize(("program", "output"), data(__file__, "OUTPUTS"))
def test_programs_run(program: str, output: str, tmp_path: Path) -> None:
    run = run_python(str(PROGRAMS / program), "file.t7", cwd=tmp_path)
    assert run.stderr == "" and run.stdout == output


@pytest.mark.thorough
@pytest.mark.needs("nn")
def test_the_program_of_an_old_net(tmp_path: Path) -> None:
    save = """if True:
        from th_shell import Engine
        layers = ("nn.SpatialConvolution(3, 4, 8, 8)", "nn.View(4)", "nn.LogSoftMax()")
        net = ":".join(["nn.Sequential()", *(f"add({layer})" for layer in layers)])
        Engine().run(f"require 'nn' torch.save('net.t7', {net}:float())")
    """
    assert run_python("-c", save, cwd=tmp_path).stderr == ""
    run = run_python(str(PROGRAMS / "old_net.py"), "net.t7", cwd=tmp_path)
    assert run.stderr == "" and [line.count(",") for line in run.stdout.splitlines()] == [3, 3, 1]


@pytest.mark.thorough
def test_the_program_of_tests(tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-c", tmp_path / "none.ini", "-p", "no:cacheprovider"]
    (tmp_path / "none.ini").touch()
    run = run_python(*words, PROGRAMS / "lua_tests.py", cwd=tmp_path)
    assert "5 passed" in run.stdout, run.stdout


def test_programs_have_about_fifty_lines() -> None:
    for program in PROGRAMS.glob("[!_]*.py"):
        assert 45 <= len(program.read_text().splitlines()) <= 70, program.name


@pytest.mark.parametrize(
    "checker",
    [
        pytest.param("mypy", marks=[pytest.mark.needs("mypy"), pytest.mark.thorough]),
        pytest.param("pyright", marks=[pytest.mark.needs("pyright"), pytest.mark.slow]),
    ],
)
def test_type_checkers(checker: str, tmp_path: Path) -> None:
    """Both accept the programs in their strict modes, and refuse what is wrong."""
    wrong, text = tmp_path / "wrong.py", data(__file__, "WRONG")
    wrong.write_text(text)
    done = check(checker, PROGRAMS, wrong)
    found = re.findall(r"(\w+\.py):(\d+).*? error: ", done.stdout)
    lines = [str(n) for n, line in enumerate(text.splitlines(), 1) if "# wrong" in line]
    assert found == [("wrong.py", line) for line in lines], done.stdout + done.stderr
