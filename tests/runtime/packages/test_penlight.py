"""Penlight's modules as globals: loaded when a program first reads one, if it is installed."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

#: A Penlight of two modules, which makes them globals as the real one does.
FILES = data(__file__, "FILES")

ADVICE = "path is a module of Penlight, which Torch7's th had loaded: th --install penlight\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    return tmp_path


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("source", "printed"),
    data(__file__, "test_modules_are_globals"),
)
def test_modules_are_globals(folder: Path, source: str, printed: str) -> None:
    run = run_th("-e", source, cwd=folder)
    assert (run.stdout, run.stderr) == (printed, "")


def test_a_program_is_told_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "pl.lua").write_text("print('another file of this name')")
    run = run_th("-e", "print(path) path.join('a', 'b')", cwd=tmp_path)
    assert run.stdout == "nil\t\n"
    assert run.stderr.startswith("th: (command line):1: attempt to index global 'path' (a nil")
    assert run.stderr.endswith(ADVICE)


def test_who_has_it_is_not_told_to_install_it(folder: Path) -> None:
    assert "--install" not in run_th("-e", "_ = path stringx.split('a')", cwd=folder).stderr


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", ["data.x = 1", "local path; path.join('a')", "pathx.join('a')"])
def test_other_names_are_the_programs_own(tmp_path: Path, source: str) -> None:
    assert "Penlight" not in run_th("-e", source, cwd=tmp_path).stderr


def test_texts_without_it(tmp_path: Path) -> None:
    run = run_th("-e", "print('10' % 4, pcall(function() return 'x' % 4 end))", cwd=tmp_path)
    message = "(command line):1: attempt to perform arithmetic on a string value"
    assert run.stdout == f"2\tfalse\t{message}\t\n"
