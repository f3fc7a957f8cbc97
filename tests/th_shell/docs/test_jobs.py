"""The command's pages: which run, how many at a time, until when."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from th_shell.docs.cli import main

TOP = Path(__file__).parents[3]
GOOD = "```lua\n> 1 + 1\n2\n```\n"
BAD = "```lua\n> 1 + 1\n3\n```\n"
WAITS = """\
```lua
io.open('{other}', 'w'):close()
for i = 1, 2e9 do local f = io.open('{own}') if f then f:close() break end end
> 1 + 1
2
```
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs/deep").mkdir(parents=True)
    Path("docs/a.md").write_text(GOOD)
    Path("docs/deep/b.txt").write_text(GOOD)


def _pages(output: str) -> list[str]:
    return [line.partition(":")[0] for line in output.splitlines() if ": checked" in line]


def test_a_folder_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    assert _pages(capfd.readouterr().out) == ["docs/a.md", "docs/deep/b.txt", "2 pages"]


def test_pages_run_at_the_same_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Each of the two pages goes on when the other one has begun.
    first, second = tmp_path / "first", tmp_path / "second"
    Path("docs/a.md").write_text(WAITS.format(own=first, other=second))
    Path("docs/deep/b.txt").write_text(WAITS.format(own=second, other=first))
    assert main(["-j", "2", "--timeout", "20", "docs"]) == 0
    assert "2 pages: checked 2 of 6 examples: 2 pass, 4 ran\n" in capfd.readouterr().out


def test_parts(capfd: pytest.CaptureFixture[str]) -> None:
    found = []
    for part in ("1/2", "2/2"):
        assert main(["--shard", part, "docs"]) == 0
        found.append(_pages(capfd.readouterr().out))
    assert found == [["docs/a.md"], ["docs/deep/b.txt"]]


def test_a_part_without_pages_is_no_failure(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--shard", "3/3", "docs"]) == 0
    assert capfd.readouterr().out == "no pages in this part\n"


def test_fail_fast(capfd: pytest.CaptureFixture[str]) -> None:
    Path("docs/a.md").write_text(BAD)
    assert main(["-x", "docs"]) == 1
    assert _pages(capfd.readouterr().out) == ["docs/a.md", "1 of 2 pages"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["docs/*.rst"], "docs/*.rst: no page matches"),
        (["-j", "0", "docs"], "argument -j/--jobs: '0' is not a number from 1 up"),
        (["-j", "many", "docs"], "argument -j/--jobs: 'many' is not a number from 1 up"),
        (["--shard", "3/2", "docs"], "argument --shard: '3/2': there are parts from 1 to 2"),
        ([""], "'': no page matches"),
        (["--watch", "--update", "docs"], "argument --watch: not allowed with argument --update"),
        (["--watch", "--json", "x", "docs"], "argument --watch: not allowed with argument --json"),
    ],
)
def test_wrong_command_lines(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"th-docs: error: {message}\n")


def test_watch_runs_what_changes_until_ctrl_c() -> None:
    run = subprocess.Popen(
        [sys.executable, "-u", "-m", "th_shell.docs", "--watch", "docs"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )
    assert run.stdout
    try:
        shown = [run.stdout.readline() for _ in range(3)]
        assert shown[-1] == "2 pages: checked 2 of 2 examples: 2 pass\n"
        time.sleep(0.1)
        Path("docs/a.md").write_text(BAD)
        assert run.stdout.readline() == "FAIL docs/a.md:2: differs\n"
        run.send_signal(signal.SIGINT)
        assert run.wait(20) == 130
    finally:
        run.kill()
        run.communicate()
