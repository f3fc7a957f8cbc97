"""The workflows and issue forms of GitHub: of the right form, and they run what runs here."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import run_python
from th_shell.docs.settings.options import read_toml

yaml = pytest.importorskip("yaml", reason="PyYAML, of the extra test, is not installed")

TOP = Path(__file__).parents[1]
WORKFLOWS = sorted((TOP / ".github/workflows").glob("*.yml"))
FORMS = sorted((TOP / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.yml"),
        ("github-actions", "actions/*/action.yml"),
    ],
)
def test_files_have_the_form_that_their_schema_tells(schema: str, pattern: str) -> None:
    pytest.importorskip("check_jsonschema", reason="of the extra test, is not installed")
    files = sorted((TOP / ".github").glob(pattern))
    done = run_python("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)
    assert files and (done.returncode, done.stdout) == (0, "ok -- validation done\n"), done.stdout


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            yield f"{path.stem} {name}", job


def test_what_a_step_runs_is_a_script_here() -> None:
    scripts = set()
    for name, job in jobs():
        runs = [step["run"] for step in job["steps"] if "run" in step]
        for run in runs:
            called = re.findall(r"(?<!\S)scripts/\w+", run)
            assert called, f"{name}: {run}"
            scripts.update(called)
        assert len(runs) + sum("uses" in step for step in job["steps"]) == len(job["steps"])
    assert scripts >= {"scripts/test", "scripts/check", "scripts/build", "scripts/_smoke"}
    assert [script for script in sorted(scripts) if not os.access(TOP / script, os.X_OK)] == []


def test_all_versions_of_python_are_tested() -> None:
    told = " ".join(read_toml(TOP / "pyproject.toml")["project"]["classifiers"])
    versions = re.findall(r"Python :: (3\.\d+)", told)
    matrices = {name: job["strategy"]["matrix"] for name, job in jobs() if "strategy" in job}
    assert matrices["tests tests"]["python"] == versions
    assert matrices["release try"]["python"] == versions


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_ask_for_the_report(path: Path) -> None:
    fields = [field for field in yaml.safe_load(path.read_text())["body"] if "id" in field]
    assert "`th --report" in fields[0]["attributes"]["label"]
    assert fields[0]["validations"]["required"]


@pytest.mark.parametrize("status", [0, 3])
def test_what_a_command_prints_is_the_summary(status: int, tmp_path: Path) -> None:
    env = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    command = [TOP / "scripts/_summary", "sh", "-c", f"echo '*a* b'; exit {status}"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (status, "*a* b\n")
    assert (tmp_path / "summary").read_text() == "```\n*a* b\n```\n"
