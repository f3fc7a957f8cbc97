"""Tests that need what not every machine has are skipped without it, and run by one command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs
from tests.conftest import pytest_runtest_setup
from tests.data_files import data

TOP = Path(__file__).parents[1]


def test_one_place_tells_what_tests_need() -> None:
    """A test that skips itself otherwise is not run by the command."""
    otherwise = re.compile(r"""importorskip\(["'](torch|onnx)|skipif\(.*(find_spec|WITH_NN)""")
    files = sorted((TOP / "tests").rglob("test_*.py"))
    assert [path.name for path in files if otherwise.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("names", "with_nn", "found"),
    data(__file__, "test_what_is_missing"),
)
def test_what_is_missing(
    names: list[str], with_nn: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WITH_NN", with_nn)
    assert needs.missing(names) == found


def test_a_test_is_skipped(request: pytest.FixtureRequest) -> None:
    request.node.add_marker(pytest.mark.needs("numpy", "no_such_library"))
    message = r"^needs no_such_library: scripts/check --torch$"
    with pytest.raises(pytest.skip.Exception, match=message):
        pytest_runtest_setup(request.node)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Puts a program in the place of the one that runs the tests; the file that it writes."""
    program = tmp_path / "_torch"
    program.write_text(f'#!/bin/sh\necho "$* nn=$WITH_NN" >{tmp_path}/started\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setattr(needs, "_TORCH", program)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("LUA_PATH", raising=False)
    return tmp_path / "started"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "found"),
    data(__file__, "test_the_command"),
)
def test_the_command(words: list[str], found: str, started: Path, tmp_path: Path) -> None:
    (tmp_path / "th/lua/nn").mkdir(parents=True)
    (tmp_path / "th/lua/nn/init.lua").touch()
    assert needs.main(words) == 3
    assert started.read_text() == found


@pytest.mark.parametrize("folder", [(), ("nn",)])
def test_the_command_without_nn(
    folder: tuple[str, ...], started: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in folder:
        (tmp_path / name).mkdir()
    assert needs.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        "nn is not here: give a folder with the checkouts nn and moses, as for --reference\n"
        "(scripts/check --torch [VERSION] FOLDER), or install it (th --install nn).\n"
    )
    assert not started.exists()


@pytest.mark.thorough
@pytest.mark.needs("nn", "torch")
@pytest.mark.parametrize(
    "page",
    [
        "models.md",
        "python_programs.md",
        pytest.param("mpi.md", marks=pytest.mark.needs("mpi4py")),
        pytest.param("bulk.md", marks=pytest.mark.needs("distributed")),
        pytest.param("web_service.md", marks=pytest.mark.needs("fastapi", "httpx")),
    ],
)
def test_pages(page: str, tmp_path: Path) -> None:
    """No example of a page is left out for want of nn or PyTorch."""
    command = [sys.executable, "-m", "th_shell.docs", "--torch", "installed"]
    with_all = {"WITH_MPI": "1", "WITH_PYTORCH": "1", "PYTHONPATH": str(TOP)}
    done = subprocess.run(
        [*command, TOP / "tests" / "docs" / page],
        cwd=tmp_path,
        env={**os.environ, **with_all},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout and "fragment" not in done.stdout
