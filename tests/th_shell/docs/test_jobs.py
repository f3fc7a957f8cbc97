"""The command's pages: which run, how many at a time, until when."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.cli import main

GOOD = "```lua\n> 1 + 1\n2\n```\n"
BAD = "```lua\n> 1 + 1\n3\n```\n"
WAITS = data(__file__, "WAITS")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs/deep").mkdir(parents=True)
    Path("docs/a.md").write_text(GOOD)
    Path("docs/deep/b.txt").write_text(GOOD)


def _pages(output: str) -> list[str]:
    return [line.partition(":")[0] for line in output.splitlines() if ": checked" in line]


@pytest.mark.thorough
def test_a_folder_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    assert _pages(capfd.readouterr().out) == ["docs/a.md", "docs/deep/b.txt", "2 pages"]


@pytest.mark.thorough
def test_pages_run_at_the_same_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Each of the two pages goes on when the other one has begun.
    first, second = tmp_path / "first", tmp_path / "second"
    Path("docs/a.md").write_text(WAITS.format(own=first, other=second))
    Path("docs/deep/b.txt").write_text(WAITS.format(own=second, other=first))
    assert main(["-j", "2", "--timeout", "20", "docs"]) == 0
    assert "2 pages: checked 2 of 6 examples: 2 pass, 4 ran\n" in capfd.readouterr().out


@pytest.mark.thorough
def test_fail_fast(capfd: pytest.CaptureFixture[str]) -> None:
    Path("docs/a.md").write_text(BAD)
    assert main(["-x", "docs"]) == 1
    assert _pages(capfd.readouterr().out) == ["docs/a.md", "1 of 2 pages"]


@pytest.mark.parametrize(
    ("words", "message"),
    data(__file__, "test_wrong_command_lines"),
)
def test_wrong_command_lines(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"th-docs: error: {message}\n")
