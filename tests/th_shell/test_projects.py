"""Projects that have modules `runtime`, `torch` and `tests` of their own."""

import os
from pathlib import Path

import pytest

from tests.processes import run_python

PAGE = "```lua\n> require 'torch'\n> torch.ones(2):sum()\n2\n```\n"
ENGINE = (
    "import runtime, torch, tests\n"
    "from th_shell import Engine\n"
    "print(runtime.MINE, torch.MINE, tests.MINE, Engine().eval('torch.ones(2):sum()'))\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with these modules, a page, and a program that uses them and th_shell."""
    for name in ("runtime", "torch", "tests"):
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(f"MINE = '{name}'\n")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "conf.py").write_text(
        "import sys\nsys.path.insert(0, '..')\nimport runtime\n"
        "extensions = ['th_shell.docs.sphinx_extension']\n"
        "source_suffix = '.rst'\n"
    )
    (docs / "index.rst").write_text("Page\n====\n\n.. code-block:: lua\n\n    > 1 + 1\n    2\n")
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "program.py").write_text(ENGINE)
    return tmp_path


def run(project: Path, *words: str) -> tuple[int, str]:
    """Run Python in the project, whose folder is the first that modules are sought in."""
    done = run_python(*words, cwd=project, env={**os.environ, "PYTHONPATH": "."})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.thorough
def test_a_program(project: Path) -> None:
    assert run(project, "program.py") == (0, "runtime torch tests 2\n")


@pytest.mark.thorough
def test_th(project: Path) -> None:
    assert run(project, "-m", "th_shell", "-e", "print(torch.ones(2):sum())") == (0, "2\t\n")


@pytest.mark.thorough
def test_the_pytest_plugin(project: Path) -> None:
    options = ("-p", "no:cacheprovider", "-p", "no:xdist")
    status, output = run(project, "-m", "pytest", *options, "-q", "--th-docs", "page.md")
    assert status == 0 and "2 passed" in output, output


@pytest.mark.thorough
def test_sphinx(project: Path) -> None:
    pytest.importorskip("sphinx.cmd.build", reason="the extra sphinx is not installed")
    status, output = run(project, "-m", "sphinx", "-q", "docs", "build")
    assert status == 0, output
    assert 'class="th-docs-pass"' in (project / "build" / "index.html").read_text()
