"""The command's options on what is reported, and where reports go."""

import json
import os
import pty
import select
from pathlib import Path

import pytest

from th_shell.docs.cli import main
from th_shell.docs.reporting.excerpts import style_for


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("bad.md").write_text("```\n> torch.range(1, 2):sum()\n4\n> x = 1\n```\n")
    return tmp_path


@pytest.mark.thorough
def test_json_on_the_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "-", "bad.md"]) == 1
    out, error = capfd.readouterr()
    assert json.loads(out)["counts"] == {"ran": 1, "differs": 1}
    assert error.startswith("FAIL bad.md:2: differs\n")
    assert error.endswith("bad.md: checked 1 of 2 examples: 1 ran, 1 differs\n")


@pytest.mark.thorough
def test_coverage(capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad.md").write_text(
        "# lib.sum(x)\n\n```lua\n> lib = {sum = math.sin}\n> lib.sum(0)\n0\n```\n"
    )
    assert main(["--coverage", "--json", "all.json", "bad.md"]) == 0
    assert capfd.readouterr().out.endswith("documented functions: 1 of 1 have a checked example\n")
    assert json.loads(Path("all.json").read_text())["coverage"] == {
        "checked": ["lib.sum"],
        "ran": [],
        "none": [],
    }


def run(*arguments: str, stdout: int, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run th-docs here with another standard output; its status and its errors."""
    kept = os.dup(1)
    os.dup2(stdout, 1)
    try:
        status = main(arguments)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    return status, capfd.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [["bad.md"], ["-h"], ["--json", "-", "bad.md"]])
def test_a_reader_that_is_gone(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    status, errors = run(*arguments, stdout=theirs, capfd=capfd)
    os.close(theirs)
    assert status == 141
    assert ("FAIL bad.md:2: differs" in errors) is ("--json" in arguments)


@pytest.mark.parametrize(
    ("no_color", "terminal", "coloured"),
    [("", "xterm", True), ("1", "xterm", False), ("", "dumb", False)],
)
def test_colours_of_a_terminal(
    no_color: str, terminal: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", terminal)
    ours, theirs = pty.openpty()
    assert style_for(theirs).coloured is coloured
    os.close(ours)
    os.close(theirs)


def test_a_file_has_no_colours() -> None:
    with open("file", "w") as file:
        assert not style_for(file.fileno()).coloured


@pytest.mark.thorough
def test_a_terminal_has_colours(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    assert run("bad.md", stdout=theirs, capfd=capfd) == (1, "")
    shown = b""
    while select.select([ours], [], [], 0)[0]:
        shown += os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert shown.startswith(b"\x1b[31mFAIL\x1b[0m \x1b[1mbad.md:2\x1b[0m: differs\r\n")
