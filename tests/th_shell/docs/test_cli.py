"""The command: its report, its JSON, its exit status."""

import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.test_report import VERSIONS
from th_shell.docs.cli import main
from th_shell.docs.settings import sidecar

GOOD = "```lua\n> 1 + 1\n2\n```\n"
ERRATUM = "[[errata]]\nreason = 'Two and two are four.'\ninput = 'x * 2'\n"
BAD = "Text\n\n```lua\nx = 2\n> x * 2\n5\n```\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("good.md").write_text(GOOD)
    Path("bad.md").write_text(BAD)
    return tmp_path


def test_an_unknown_option_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--nonsense"])
    assert capfd.readouterr().err.endswith("th-docs: error: unrecognized arguments: --nonsense\n")
    with pytest.raises(SystemExit):
        main(["--version"])
    assert re.fullmatch(VERSIONS.replace("th", "th-docs", 1), capfd.readouterr().out)


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_nothing_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["good.md"]) == 0
    assert capfd.readouterr().out == "good.md: checked 1 of 1 example: 1 pass\n"


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_failure_shows_its_place_and_both_outputs(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["good.md", "bad.md"]) == 1
    assert (
        capfd.readouterr().out
        == """\
good.md: checked 1 of 1 example: 1 pass
FAIL bad.md:5: differs
  input:
    > x * 2
  difference (- page, + program):
    - 5
    + 4

bad.md: checked 1 of 2 examples: 1 ran, 1 differs
2 pages: checked 2 of 3 examples: 1 pass, 1 ran, 1 differs
"""
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_verbose(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text("```\nprose, no code\n$ th\n> 1\n1\n```\n")
    assert main(["-v", "page.md"]) == 0
    assert (
        capfd.readouterr().out
        == """\
page.md:2: text       [no input: this text does not compile as Lua]
page.md:3: skipped  $ th  [starts a session: the lines after it run as the page's]
page.md:4: pass     > 1
page.md: checked 1 of 2 examples: 1 pass, 1 skipped, 1 text
"""
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_json() -> None:
    assert main(["--json", "out.json", "bad.md", "good.md"]) == 1
    found = json.loads(Path("out.json").read_text())
    assert found["failed"] is True
    assert [page["page"] for page in found["pages"]] == ["bad.md", "good.md"]
    assert [page["counts"] for page in found["pages"]] == [{"ran": 1, "differs": 1}, {"pass": 1}]
    assert found["pages"][0]["examples"][1] == {
        "id": "/1/x * 2",
        "line": 5,
        "last": 5,
        "documented": [6, 6],
        "heading": "",
        "language": "lua",
        "kind": "prompt",
        "input": "x * 2",
        "expected": "5",
        "got": "4\t\n",
        "verdict": "differs",
        "failed": True,
        "checked": True,
        "note": "",
        "original": "",
        "repaired": "",
    }


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", ["--json", "--junitxml"])
def test_files_are_opened_before_anything_runs(
    option: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([option, "none/a", "good.md"]) == 2
    problem = "th-docs: none/a cannot be written: No such file or directory\n"
    assert capfd.readouterr() == ("", problem)


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_errata_in_another_folder() -> None:
    Path("errata").mkdir()
    Path("errata/bad.md.th-docs").write_text(f'{ERRATUM}prints = "4"\n')
    assert main(["--errata", "errata", "bad.md"]) == 0


@pytest.mark.thorough
def test_errata_of_pages_with_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, said in (("a", "1\n2"), ("b", "2\n3\n> 1\n1")):
        Path(folder).mkdir()
        Path(folder, "index.md").write_text(f"```lua\n> {said}\n```\n")
    Path("errata").mkdir()
    words = ["--errata", "errata", "a/index.md", "b/index.md"]
    assert [main(["--update", *words]), main(words), main(words[:-1]), main(words[:2] + ["."])] == [
        0
    ] * 4
    files = sorted(str(path) for path in Path("errata").rglob("*.th-docs"))
    assert files == ["errata/a/index.md.th-docs", "errata/b/index.md.th-docs"]


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_update_writes_what_is_printed_into_errata() -> None:
    file = Path("bad.md.th-docs")
    file.write_text(f"# Notes.\n\n{ERRATUM}\n# More.\n[[examples]]\nordinal = 1\n")
    assert main(["--update", "bad.md"]) == 0
    assert file.read_text() == (
        "# Notes.\n\n"
        + ERRATUM.replace("input", 'heading = ""\ninput')
        + 'ordinal = 1\ndocumented = "ef2d127d"\nprints = "4"\n\n'
        '# More.\n[[examples]]\nordinal = 1\n\n[verdicts]\n"/1/x = 2" = "ran"\n'
        '"/1/x * 2" = "erratum"\n'
    )
    assert main(["bad.md"]) == 0
    Path("bad.md").write_text(BAD.replace("x = 2", "x = 3"))
    assert main(["bad.md"]) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_errata_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sidecar, "write_file", refuse)
    Path("bad.md.th-docs").write_text(ERRATUM)
    assert main(["--update", "bad.md"]) == 1
    shown = capfd.readouterr().out
    assert shown.startswith(
        "FAIL bad.md: bad.md.th-docs cannot be written: No space left on device"
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_missing_page_fails_alone(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["none.md", "good.md"]) == 1
    assert capfd.readouterr().out.splitlines()[:2] == [
        "FAIL none.md: cannot be read: No such file or directory",
        "none.md: not checked",
    ]


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_pages_that_cannot_be_judged_are_not_checked(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["none.md", "good.md", "none.md.md"]) == 1
    last = "3 pages: checked 1 of 1 example: 1 pass; 2 pages not checked\n"
    assert capfd.readouterr().out.endswith(last)
    assert main(["none.md", "none.md.md"]) == 1
    assert capfd.readouterr().out.endswith("2 pages: not checked\n")


@pytest.mark.parametrize(
    ("words", "name"),
    data(__file__, "test_results_do_not_replace_pages_or_each_other"),
)
@pytest.mark.usefixtures("folder")
def test_results_do_not_replace_pages_or_each_other(
    words: list[str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main([*words, "good.md"])
    assert raised.value.code == 2
    problem = "results are written to a file of their own, and not to a page"
    assert capfd.readouterr().err.endswith(f"th-docs: error: {name}: {problem}\n")
    assert Path("bad.md").read_text() == BAD


@pytest.mark.usefixtures("folder")
def test_pages_that_are_no_files(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.md")
    os.mkfifo("good.md.th-docs")
    assert main(["pipe.md", "/dev/zero", "good.md"]) == 1
    reason = "cannot be read: it is a pipe, a device or the like, and no file"
    assert [line for line in capfd.readouterr().out.splitlines() if line.startswith("FAIL")] == [
        f"FAIL pipe.md: {reason}",
        f"FAIL /dev/zero: {reason}",
        f"FAIL good.md: good.md.th-docs: {reason}",
    ]
    assert main(["fix", "pipe.md"]) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_no_examples(capfd: pytest.CaptureFixture[str]) -> None:
    Path("empty.md").write_text("Only text.\n")
    assert main(["empty.md"]) == 5
    assert main(["empty.md", "--allow-empty"]) == 0
    assert main(["empty.md", "good.md"]) == 0
    assert capfd.readouterr().out.startswith("empty.md: no examples\n")


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_nothing_was_checked(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text("```\n> x = 1\n> print(nobody)\n$ ls -l /\n```\n")
    assert main(["page.md"]) == 5
    assert capfd.readouterr().out.endswith(
        "page.md: NOTHING WAS CHECKED of 3 examples: 2 ran (the page shows no output), "
        "1 skipped (not run)\n"
    )
    assert main(["page.md", "good.md"]) == 0
    assert main(["page.md", "--min-checked", "0"]) == 0
    assert main(["page.md", "--allow-empty"]) == 0
    Path("th-docs.toml").write_text("min_checked = 0\n")
    assert main(["page.md"]) == 0


@pytest.mark.usefixtures("folder")
def test_strict(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text("```\n> x = 1\n> x\n> x;\nprint(x)\n```\n")
    assert main(["page.md"]) == 5
    assert main(["--strict", "page.md"]) == 1
    out = capfd.readouterr().out
    assert "page.md:3: differs (the page documents nothing of what it prints)" in out
    assert out.endswith("page.md: checked 1 of 4 examples: 3 ran, 1 differs\n")


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_no_time_limit(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.md").write_text(GOOD + "\n    $ echo 2\n    2\n")
    assert main(["--timeout", "inf", "page.md"]) == 0
    assert capfd.readouterr().out == "page.md: checked 2 of 2 examples: 2 pass\n"


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_time_limit(capfd: pytest.CaptureFixture[str]) -> None:
    Path("hang.md").write_text("```\n> 1\n1\n> while true do end\n> 2\n2\n```\n")
    assert main(["--timeout", "1", "hang.md"]) == 1
    out = capfd.readouterr().out
    assert "hang.md:4: error (was stopped after 1 s)" in out
    assert out.endswith("hang.md: checked 3 of 3 examples: 2 pass, 1 error\n")


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", [[], ["fix"]])
def test_interrupt_ends_what_runs(command: list[str]) -> None:
    Path("hang.md").write_text("```\nos.execute('touch $PARENT/started; sleep 1000')\n```\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "PARENT": str(Path.cwd()),
    }
    command = [sys.executable, "-m", "th_shell.docs", *command, "hang.md", "good.md"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    while not Path("started").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    # The sleeping grandchild holds the page's capture, not this pipe: only the status tells.
    assert process.communicate(timeout=20)[0] == b""  # sooner than an example's time is over
    assert process.returncode == 130


def docs(*arguments: str, output: str = os.devnull) -> tuple[int, str]:
    """Run th-docs with its output somewhere; its status and its errors."""
    command = [sys.executable, "-m", "th_shell.docs", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with open(output, "w") as file:
        done = subprocess.run(
            command, stdout=file, stderr=subprocess.PIPE, text=True, env=environment, timeout=60
        )
    return done.returncode, done.stderr


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.mark.thorough
@needs_full
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments", [["good.md"], ["good.md", "bad.md"], ["-h"], ["fix", "-h"], ["init", "-h"]]
)
def test_output_on_a_full_disk(arguments: list[str]) -> None:
    problem = "th-docs: write error: No space left on device\n"
    assert docs(*arguments, output="/dev/full") == (2, problem)


@pytest.mark.thorough
@needs_full
@pytest.mark.usefixtures("folder")
def test_json_on_a_full_disk() -> None:
    Path("link").symlink_to("/dev/full")
    problem = "th-docs: link cannot be written: No space left on device\n"
    assert docs("--json", "link", "good.md") == (2, problem)


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_old_results_stay_until_there_are_new_ones() -> None:
    Path("all.json").write_text("old")
    Path("page.md").write_text("```\n> io.open('PATH'):read('*a')\n1\n```\n")
    text = Path("page.md").read_text().replace("PATH", str(Path("all.json").resolve()))
    Path("page.md").write_text(text)
    assert main(["--json", "all.json", "page.md"]) == 1
    assert json.loads(Path("all.json").read_text())["pages"][0]["examples"][0]["got"] == "old\t\n"
    assert sorted(path.name for path in Path().iterdir()) == [
        "all.json",
        "bad.md",
        "good.md",
        "page.md",
    ]


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_control_codes_do_not_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bad\x1b[2J.md").write_text("```\n> 'x\x1b[3J'\ny\x1b[4J\n```\n")
    ours, theirs = pty.openpty()
    monkeypatch.setenv("NO_COLOR", "1")
    assert docs("-v", "bad\x1b[2J.md", output=os.ttyname(theirs))[0] == 1
    shown = b""
    while select.select([ours], [], [], 0)[0]:
        shown += os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert all(text in shown for text in (rb"x\027[3J", rb"y\027[4J", rb"bad\027[2J.md"))
    assert b"\x1b" not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--timeout", "0", "a.md"],
        ["--timeout", "x", "a.md"],
        ["--errata", "none", "a.md"],
    ],
)
def test_wrong_command_line(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert "usage: th-docs" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("option", "word", "problem"),
    data(__file__, "test_wrong_values_are_told_as_in_files_of_settings"),
)
def test_wrong_values_are_told_as_in_files_of_settings(
    option: str, word: str, problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([option, word, "a.md"])
    assert capfd.readouterr().err.endswith(f"th-docs: error: argument {option}: {problem}\n")
