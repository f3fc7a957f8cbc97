"""What is installed: the wheel, and the sdist of which it can be built anew."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.processes import run_python
from th_shell import __version__
from th_shell.docs.settings.options import read_toml

TOP = Path(__file__).parents[1]
NAME = f"th_shell-{__version__}"
BUILT = [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"]
#: Files for the readers of a checkout alone.
_UNINSTALLED = re.compile(r"\.(md|png|svg|pyc)$")
_NEEDED = re.compile(r"^th_shell/(help/pages/.*\.md|jupyter/.*\.svg)$")


def build(checkout: Path, into: Path) -> dict[str, bytes]:
    """Build both archives; their bytes by their names."""
    done = run_python("-m", "hatchling", "build", "-d", into, cwd=checkout)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in sorted(into.iterdir())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both archives in `built`."""
    folder = tmp_path_factory.mktemp("package")
    assert list(build(TOP, folder / "built")) == BUILT
    return folder


@pytest.mark.thorough
def test_the_wheel_has_the_programs_and_nothing_else(folder: Path) -> None:
    with ZipFile(folder / "built" / BUILT[0]) as wheel:
        packed = {name for name in wheel.namelist() if not name.startswith(NAME)}
        shared = {name for name in wheel.namelist() if name.startswith(f"{NAME}.data")}
    files = {
        import_path(path.relative_to(TOP))
        for room in ("runtime", "th_shell")
        for path in (TOP / room).rglob("*")
        if path.is_file()
    }
    assert packed == {f for f in files if _NEEDED.search(f) or not _UNINSTALLED.search(f)}
    share = (path for path in (TOP / "share").rglob("*") if path.is_file())
    assert shared == {f"{NAME}.data/data/{path.relative_to(TOP)}" for path in share}


def import_path(path: Path) -> str:
    """Return the path under which a file is imported: the links in th_shell give it."""
    name = f"th_shell/{path}" if path.parts[0] == "runtime" else str(path)
    return name.replace("th_shell/runtime/pytorch", "th_shell/torch")


@pytest.mark.thorough
def test_the_same_bytes_are_built_of_the_sdist(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first = build(TOP, folder / "first")
    with tarfile.open(folder / "first" / BUILT[1]) as sdist:
        sdist.extractall(folder, filter="data")
    (folder / NAME / "README.md").touch()  # at another time
    assert build(folder / NAME, folder / "second") == first
    assert first != {path.name: path.read_bytes() for path in (folder / "built").iterdir()}


@pytest.mark.thorough
def test_the_sdist_has_no_tests_and_all_that_distributors_read(folder: Path) -> None:
    with tarfile.open(folder / "built" / BUILT[1]) as sdist:
        names = {name.removeprefix(f"{NAME}/") for name in sdist.getnames()}
    top = {name.partition("/")[0] for name in names}
    told = {"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "PKG-INFO"}
    assert top == told | {".gitignore", "pyproject.toml", "share", "th_shell"}


def test_the_versions_of_python_are_told() -> None:
    project = read_toml(TOP / "pyproject.toml")["project"]
    named = re.findall(r"Python :: 3\.(\d+)", " ".join(project["classifiers"]))
    assert project["requires-python"] == f">=3.{named[0]}"
    assert [int(minor) for minor in named] == list(range(int(named[0]), int(named[-1]) + 1))
