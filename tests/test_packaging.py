"""The container and the recipe for conda: they have what th needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.processes import run_python
from th_shell import __version__
from th_shell.docs.settings.options import read_toml

yaml = pytest.importorskip("yaml", reason="PyYAML, of the extra test, is not installed")

TOP = Path(__file__).parents[1]
CONTAINER = (TOP / "Containerfile").read_text()


@pytest.mark.thorough
def test_the_container_lacks_nothing_of_scipy_that_th_loads() -> None:
    files = [path for room in ("runtime", "th_shell") for path in (TOP / room).rglob("*.py")]
    named = {
        name
        for path in files
        for name in re.findall(r"\bscipy\.(?:linalg\.cython_)?\w+", path.read_text())
    }
    done = run_python(
        "-c",
        f"import sys; from importlib import import_module\nfor name in {sorted(named)}:\n"
        "    try: import_module(name)\n    except ModuleNotFoundError: print('no', name)\n"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('scipy.')})",
        cwd=TOP,
        check=True,
    )
    removed = re.search(r"rm -r \\\n(.*)", CONTAINER)
    assert removed and "scipy.linalg" in named and "'linalg'" in done.stdout
    assert [part for part in removed[1].split() if f"'{part}'" in done.stdout] == []


def test_the_container_has_one_version_of_python() -> None:
    """Debian 12, whose Python is 3.11, runs what another image has installed."""
    built, run = re.findall(r"^FROM (\S+)", CONTAINER, re.M)
    assert (built.endswith("python:3.11-slim-bookworm"), run.endswith("debian12")) == (True, True)


def test_the_recipe_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load((TOP / "packaging/recipe.yaml").read_text())
    project = read_toml(TOP / "pyproject.toml")
    assert str(recipe["context"]["version"]) == __version__
    for name in ("homepage", "license", "summary"):
        told = {**project["project"], "homepage": project["project"]["urls"]["Homepage"]}
        assert recipe["about"][name] == told["description" if name == "summary" else name]
    needed = [line.split(";")[0] for line in project["project"]["dependencies"]]
    needed = [re.sub(r"^([\w-]+)", r"\1 ", line) for line in needed]
    assert recipe["requirements"]["run"][2:] == needed
    (backend,) = project["build-system"]["requires"]
    assert backend.replace(">=", " >=") in recipe["requirements"]["host"]
