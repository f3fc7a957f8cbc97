from __future__ import annotations

import builtins
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from th_shell.jupyter.install import run

pytest.importorskip("ipykernel", reason="the extra 'jupyter' is missing")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, where Jupyter looks for kernelspecs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize("equals", [False, True])
def test_installing_below_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], equals: bool
) -> None:
    prefix = str(tmp_path / "prefix")
    where = [f"--prefix={prefix}"] if equals else ["--prefix", prefix]
    assert run(["install", *where]) == 0
    folder = Path(prefix, "share", "jupyter", "kernels", "th")
    assert capsys.readouterr().out == f"installed {folder}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["kernel.json", "logo-svg.svg"]
    assert json.loads((folder / "kernel.json").read_text()) == {
        "argv": [sys.executable, "-I", "-m", "th_shell.jupyter", "-f", "{connection_file}"],
        "display_name": "Torch7 (th)",
        "language": "lua",
    }


def test_removing_what_was_installed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "data" / "kernels" / "th"
    assert run(["install", "--user"]) == run(["install", "--user"]) == 0
    assert run(["remove"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"installed {folder}"] * 2 + [
        f"removed {folder}"
    ]
    assert not folder.exists()


def test_removing_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["remove"]) == 1
    assert capsys.readouterr() == ("", "th: the kernel is not installed\n")


@pytest.mark.parametrize(
    "words",
    [[], ["start"], ["install", "--prefix"], ["install", "--user", "x"], ["remove", "--user"]],
)
def test_what_is_no_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 1
    assert capsys.readouterr().err == (
        "th: --jupyter takes install (--user, --sys-prefix, --prefix FOLDER) or remove\n"
    )


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["install", "--prefix", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err == (
        "th: the kernel cannot be installed: "
        f"{os.strerror(20)}: {tmp_path}/file/share (try --user)\n"
    )


def test_without_the_libraries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "ipykernel":
            raise ModuleNotFoundError("No module named 'ipykernel'")
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    assert run(["install"]) == 1
    assert capsys.readouterr().err == (
        "th: the Jupyter kernel needs more libraries: pip install 'th-shell[jupyter]' "
        "(No module named 'ipykernel')\n"
    )
