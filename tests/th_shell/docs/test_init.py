"""The files that th-docs init writes."""

import json
import re
import shlex
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from th_shell.docs.cli import main
from th_shell.docs.settings.configuration import configuration
from th_shell.docs.settings.options import read_toml
from th_shell.docs.settings.settings import Configuration

NOTHING = Configuration()
SETTINGS, WORKFLOW = "docs/th-docs.toml", ".github/workflows/docs.yml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "docs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    Path("docs/page.md").write_text("")
    Path("docs/page.txt").write_text("")


def test_all_files(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "docs"]) == 0
    assert capfd.readouterr().out == f"wrote {SETTINGS}\nwrote {WORKFLOW}\n"
    workflow = Path(WORKFLOW).read_text()
    assert "pytest --th-docs docs\n" in workflow
    assert "\t" not in workflow


@pytest.mark.parametrize(
    ("source", "installs"),
    [
        (None, "th-shell"),
        ({"url": "https://a.b/c.git", "vcs_info": {"commit_id": "12"}}, "git+https://a.b/c.git@12"),
        ({"url": "file:///nowhere", "dir_info": {}}, "th-shell"),
    ],
)
def test_the_workflow_installs_what_is_here(
    monkeypatch: pytest.MonkeyPatch, source: object, installs: str
) -> None:
    monkeypatch.setattr(PathDistribution, "read_text", lambda *_: source and json.dumps(source))
    assert main(["init", "docs"]) == 0
    (line,) = re.findall("pip install (.*) pytest pytest", Path(WORKFLOW).read_text())
    assert shlex.split(line)[0].removeprefix("th-shell @ ") == installs


def test_each_setting_is_one_of_toml_when_its_mark_is_taken_away() -> None:
    tomllib = pytest.importorskip("tomllib", reason="from Python 3.11 on")
    assert main(["init", "docs"]) == 0
    text = Path(SETTINGS).read_text()
    assert tomllib.loads(text) == {}
    found = tomllib.loads(re.sub(r"(?m)^# (?=\w+ = |\[\[)", "", text))
    assert found["pages"] == [{"match": "slow/**/*.md", "timeout": 120}]
    assert set(found) == {
        "timeout", "memory", "engine", "prelude", "lua_path", "language", "atol", "rtol", "pages"
    }  # fmt: skip


def test_each_setting_counts_when_its_mark_is_taken_away() -> None:
    assert main(["init", "docs"]) == 0
    Path("docs/prelude.lua").touch()
    Path("docs/slow").mkdir()
    Path("docs/slow/page.md").touch()
    file, page = Path(SETTINGS), Path("docs/slow/page.md")
    text = file.read_text()
    assert configuration(page, NOTHING) == NOTHING
    for line in re.findall(r"(?m)^# (?:\w+ = .*|\[\[pages\]\]\n# match = .*\n# timeout.*)$", text):
        file.write_text(text.replace(line, re.sub("(?m)^# ", "", line)))
        assert configuration(page, NOTHING) != NOTHING


def write(*files: str, text: str = "") -> None:
    for file in files:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["lume.lua"], ["../?.lua"]),
        (["lib/a/b.lua", "spec/test.lua", "tool/init.lua"], ["../?/init.lua", "../lib/?.lua"]),
        (["src/a/init.lua"], ["../src/?.lua", "../src/?/init.lua"]),
        (["lua/a.lua", "docs/b.lua"], ["../lua/?.lua"]),
        (["docs/b.lua"], None),
    ],
)
def test_lua_modules_in_their_usual_folders(files: list[str], found: list[str] | None) -> None:
    write(*files)
    assert main(["init", "docs"]) == 0
    assert read_toml(Path(SETTINGS)).get("lua_path") == found


@pytest.mark.thorough
def test_the_modules_are_found() -> None:
    write("lib/own.lua", text="return {answer = 42}")
    write("docs/page.md", text="```lua\n> require('own').answer\n42\n```\n")
    assert main(["init", "docs"]) == 0
    assert main(["docs"]) == 0


def test_a_python_project() -> None:
    write("src/ours/__init__.py", "pyproject.toml")
    assert main(["init", "docs"]) == 0
    assert "annotate-failures .\n" in Path(WORKFLOW).read_text()


def test_files_that_are_there_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    Path(SETTINGS).write_text("mine")
    assert main(["init", "docs"]) == 0
    assert Path(SETTINGS).read_text() == "mine"
    assert capfd.readouterr().out == (
        f"kept {SETTINGS}, which was there (--force replaces it)\nwrote {WORKFLOW}\n"
    )


def test_force() -> None:
    Path(SETTINGS).write_text("mine")
    assert main(["init", "--force", "docs"]) == 0
    assert Path(SETTINGS).read_text() != "mine"


def test_a_folder_elsewhere_has_its_own_workflow(capfd: pytest.CaptureFixture[str]) -> None:
    Path("../other").mkdir()
    assert main(["init", "../other"]) == 0
    assert "pytest --th-docs .\n" in Path("../other", WORKFLOW).read_text()


def test_no_such_folder(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["init", "missing"])
    assert caught.value.code == 2
    assert capfd.readouterr().err.endswith("th-docs init: error: no such folder: missing\n")


def test_what_cannot_be_written(capfd: pytest.CaptureFixture[str]) -> None:
    Path(".github").write_text("a file")
    assert main(["init", "docs"]) == 2
    expected = f"th-docs init: {WORKFLOW} cannot be written: Not a directory\n"
    assert capfd.readouterr().err == expected


def test_a_page_named_init(capfd: pytest.CaptureFixture[str]) -> None:
    Path("init").write_text("```lua\n> 1 + 1\n2\n```\n")
    assert main(["./init"]) == 0
    assert capfd.readouterr().out == "init: checked 1 of 1 example: 1 pass\n"
