"""``th --convert`` at the command line."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from runtime import save
from tests.runtime.io.torch7_files import FILES
from th_shell.cli import main
from th_shell.options import Options, parse


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.t7").write_bytes(FILES["table.binary.t7"])
    return tmp_path


def test_words() -> None:
    assert parse(["--convert", "a.t7", "b.npz"]) == Options(
        program="convert", words=("a.t7", "b.npz")
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["in.t7", "out.npz"], 0, ""),
        (["in.t7", "out.t7", "--format", "ascii"], 0, ""),
        (["none.t7", "out.npz"], 1, "th: none.t7: No such file or directory\n"),
        (["in.t7", "none/out.npz"], 1, "th: none/out.npz: No such file or directory\n"),
        (["in.t7"], 2, "th: --convert needs a .t7 file, and the name of the new file\n"),
        (["in.t7", "x.txt"], 2, "th: --convert: the name of the new file ends with .pt, .onnx, "),
        (["in.t7", "x.t7", "--format", "x"], 2, "th: --format needs binary, ascii or b32\n"),
        (["in.t7", "x.t7", "--other"], 2, "th: unrecognized option --other of --convert\n"),
    ],
)
def test_outcomes(
    words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--convert", *words]) == status
    error = capsys.readouterr().err
    assert error.startswith(message) if message else error == ""


def test_files() -> None:
    main(["--convert", "in.t7", "out.t7", "--format", "ascii"])
    assert Path("out.t7").read_bytes() == FILES["table.ascii.t7"]
    main(["--convert", "out.t7", "out.npz"])
    with np.load("out.npz") as found:
        assert found["name"] == "node"


def test_a_damaged_file_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.t7").write_bytes(b"\x63\0\0\0")
    assert main(["--convert", "bad.t7", "out.json"]) == 1
    assert capsys.readouterr().err == "th: unknown object (bad.t7, at byte 4)\n"
    assert not Path("out.json").exists()


def test_a_terminal_shows_how_far_it_is() -> None:
    save("large.t7", np.zeros(7_000_000))
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "th_shell", "--convert", "large.t7", "out.npz"]
    top = str(Path(__file__).parents[2])
    done = subprocess.run(words, stderr=theirs, env={**os.environ, "PYTHONPATH": top}, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\x1b[Kth: " in shown and " of 56 MB" in shown and shown.endswith("\r\x1b[K")
    assert subprocess.run(words[:4] + ["large.t7", "out.npz"], capture_output=True).stderr == b""
