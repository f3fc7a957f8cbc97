"""The hook of pre-commit and the action of GitHub: what their programs read, and what they run."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from th_shell.docs.cli import main
from th_shell.docs.selection import SUFFIXES
from th_shell.docs.settings.options import read_toml

yaml = pytest.importorskip("yaml", reason="PyYAML, of the extra test, is not installed")

TOP = Path(__file__).parents[3]
ACTION = TOP / ".github/actions/th-docs"
PAGE = "```lua\n> 1 + 1\n{}\n```\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pages and none."""
    monkeypatch.chdir(tmp_path)
    Path("good.md").write_text(PAGE.format(2))
    Path("bad.md").write_text(PAGE.format(3))
    Path("prose.md").write_text("Text.\n")


# ------------------------------------------------- pre-commit


def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
    return dict(found)


def test_the_hook_has_what_pre_commit_asks_for() -> None:
    # The keys are those of pre-commit's manual, "Creating new hooks"; the first four must be there.
    texts = {"id", "name", "entry", "language", "description", "files"}
    assert {key for key, value in hook().items() if isinstance(value, str)} == texts
    assert hook().keys() - texts == {"require_serial"}
    assert hook()["require_serial"] is True
    assert hook()["language"] == "python"


def test_the_hook_starts_a_command_of_this_project() -> None:
    program = shlex.split(hook()["entry"])[0]
    assert program in read_toml(TOP / "pyproject.toml")["project"]["scripts"]


def test_the_hook_gets_all_pages_and_nothing_else() -> None:
    for name in (f"docs/page{suffix}" for suffix in SUFFIXES):
        assert re.search(hook()["files"], name)
    for name in ("program.py", "markdown", "page.md.th-docs", "page.rst.orig"):
        assert not re.search(hook()["files"], name)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("pages", "status"), [(["good.md"], 0), (["good.md", "bad.md"], 1), (["prose.md"], 0)]
)
def test_the_hook_fails_where_an_example_does(pages: list[str], status: int) -> None:
    _, *options = shlex.split(hook()["entry"])
    assert main([*options, *pages]) == status


# ------------------------------------------------- GitHub


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ACTION / "action.yml").read_text()))


def test_the_action_has_what_github_asks_for() -> None:
    # As GitHub's page "Metadata syntax" has it: steps of a composite action name their shell.
    assert action().keys() == {"name", "description", "inputs", "runs"}
    assert all(one.keys() == {"description", "default"} for one in action()["inputs"].values())
    assert all(isinstance(one["default"], str) for one in action()["inputs"].values())
    assert action()["runs"].keys() == {"using", "steps"}
    assert action()["runs"]["using"] == "composite"
    for step in action()["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert step.keys() <= {"name", "uses", "with"} | {"name", "run", "shell", "env"}
        assert step.get("shell") == ("bash" if "run" in step else None)


def test_the_inputs_of_the_action_are_used_and_are_no_code() -> None:
    used = re.findall(r"\$\{\{ *(.*?) *\}\}", (ACTION / "action.yml").read_text())
    assert sorted(used) == sorted(f"inputs.{name}" for name in action()["inputs"])
    assert not [step for step in action()["runs"]["steps"] if "${{" in step.get("run", "")]


def test_the_action_installs_this_checkout() -> None:
    install = next(step["run"] for step in action()["runs"]["steps"] if "run" in step)
    shown = install.replace("pip install", "cd").replace("$GITHUB_ACTION_PATH", str(ACTION))
    run = subprocess.run(["bash", "-c", f"{shown} && pwd"], capture_output=True, text=True)
    assert Path(run.stdout.strip()).resolve() == TOP


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pages", "options", "failures"),
    [
        ("good.md", "", []),
        ("good.md bad.md", "-v", [("bad.md", "2", "differs")]),
        ("*.md", "-x", [("bad.md", "2", "differs")]),
        ("good.md $(touch$IFS-injected)", "", []),
    ],
)
def test_the_action_marks_the_lines_of_failures(
    pages: str, options: str, failures: list[tuple[str, ...]]
) -> None:
    step = action()["runs"]["steps"][-1]
    environment = {"OPTIONS": options, "PAGES": pages, "GITHUB_ACTION_PATH": str(ACTION)}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        env=os.environ | environment | {"PATH": path},
        capture_output=True,
        text=True,
    )
    first, *lines = run.stdout.splitlines()
    matcher = first.partition("::add-matcher::")[2]
    (pattern,) = json.loads(Path(matcher).read_text())["problemMatcher"][0]["pattern"]
    found = [match for line in lines if (match := re.search(pattern["regexp"], line))]
    order = ("file", "line", "message")
    assert [tuple(match[pattern[key]] for key in order) for match in found] == failures
    assert run.returncode == (1 if failures or "$" in pages else 0)
    assert len(list(Path().iterdir())) == 3
