"""The scripts of the checkout."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.terminals import Terminal

WITH = Path(__file__).parents[1] / "scripts" / "_with"
CHECK = WITH.with_name("check")
OPTIONS = ["--lint", "--lowest", "--newest", "--reference", "--torch", "--outside"]
MISSING = "There is no python3.98 here, neither on the PATH nor of pyenv.\n"


@pytest.mark.parametrize(
    ("shim", "found"),
    [
        (None, False),
        ("exit 127", False),  # as pyenv's, of a version that is not chosen
        ("exit 1", False),  # another version
        ('[ "$4" = 3.98 ]', True),
    ],
)
def test_a_python_is_looked_for(shim: str | None, found: bool, tmp_path: Path) -> None:
    if shim is not None:
        (tmp_path / "python3.98").write_text(f"#!/bin/sh\n{shim}\n")
        (tmp_path / "python3.98").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYENV_ROOT": str(tmp_path / "pyenv")}
    command = [str(WITH), "3.98", "find"]
    done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=60)
    expected = (f"{tmp_path}/python3.98\n", "", 0) if found else ("", MISSING, 1)
    assert (done.stdout, done.stderr, done.returncode) == expected


def test_a_python_of_pyenv(tmp_path: Path) -> None:
    python = tmp_path / "versions" / "3.98.1" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    env = {**os.environ, "PYENV_ROOT": str(tmp_path)}
    found = subprocess.check_output([str(WITH), "3.98", "find"], env=env, text=True, timeout=60)
    assert found == f"{python}\n"


PYTHON = data(__file__, "PYTHON")
UV = data(__file__, "UV")
LINE = b"Setting up .venv for scripts/th, once: libraries are fetched "


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A fresh checkout, with a Python and a uv that do nothing, and the environment for it."""
    top = tmp_path / "fresh"
    shutil.copytree(WITH.parent, top / "scripts")
    (top / "pyproject.toml").touch()
    for name, text in (("python", PYTHON), ("bin/uv", UV)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    given = {"PYTHON": str(tmp_path / "python"), "UV_LOG": str(tmp_path / "log")}
    return top, {**os.environ, **given, "PATH": "/usr/bin:/bin"}


def set_up(top: Path, env: dict[str, str]) -> bytes:
    """What a terminal shows of the first start."""
    terminal = Terminal()
    try:
        with terminal.running([str(top / "scripts/th"), "-e", "1"], env=env) as program:
            program.wait(60)
            os.write(terminal.theirs, b"<")
            return terminal.until(b"<").removesuffix(b"<").replace(b"\r\n", b"\n")
    finally:
        terminal.close()


@pytest.mark.thorough
def test_the_first_start_says_what_is_set_up(checkout: tuple[Path, dict[str, str]]) -> None:
    top, env = checkout
    shown = set_up(top, env)
    assert re.fullmatch(re.escape(LINE) + rb"\.+\nran -I -m th_shell -e 1\n", shown)
    assert set_up(top, env) == b"ran -I -m th_shell -e 1\n"


@pytest.mark.thorough
def test_the_first_start_fails(checkout: tuple[Path, dict[str, str]]) -> None:
    top, env = checkout
    shown = set_up(top, env | {"PIP_STATUS": "1"})
    assert re.fullmatch(re.escape(LINE) + rb"\.+\nWARNING: a word of pip\n", shown)


@pytest.mark.thorough
@pytest.mark.parametrize(("status", "dots"), [("0", b""), ("1", rb"\.+")])
def test_uv_is_used_where_it_is_installed(
    checkout: tuple[Path, dict[str, str]], tmp_path: Path, status: str, dots: bytes
) -> None:
    top, env = checkout
    shown = set_up(top, env | {"PATH": f"{tmp_path}/bin:{env['PATH']}", "UV_STATUS": status})
    assert re.fullmatch(re.escape(LINE) + dots + rb"\nran -I -m th_shell -e 1\n", shown)
    installed = f" pip install --python {top}/.venv/bin/python -e {top}\n"
    assert (tmp_path / "log").read_text() == installed


@pytest.mark.thorough
def test_an_environment_with_pytorch(checkout: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    top, env = checkout
    env = env | {"PATH": f"{tmp_path}/bin:{env['PATH']}"}
    log, python = tmp_path / "log", f"{top}/.venv/torch/bin/python"
    for version, is_new in [("==9.1", True), ("==9.1", False), ("==9.2", True), ("==9.1", True)]:
        log.write_text("")
        command = [str(top / "scripts/_torch"), f"torch{version}", "-k", "a b"]
        done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=60)
        assert done.stdout == "ran -m pytest -m needs -rs -k a b\n"
        also = f"torch{version} distributed fastapi httpx mypy pyright"
        asked = f"cpu pip install --python {python} -e {top}[test] {also}\n"
        assert log.read_text() == asked * is_new
    assert "Setting up .venv/torch for scripts/_torch, once: " in done.stderr


def test_check_tells_its_options() -> None:
    done = subprocess.run([str(CHECK), "--help"], text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All that must hold before a change lands: ")
    assert re.findall(r"scripts/check (--\w+)", done.stdout) == OPTIONS


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of two files and the scripts, whose environment counts as set up."""
    top = tmp_path / "th"
    shutil.copytree(WITH.parent, top / "scripts")
    (top / "pyproject.toml").write_text('Homepage = "https://github.com/OWNER/th"\n')
    (top / "CHANGELOG.md").write_text("## [Unreleased]\n\n- News.\n\n## [0.1.0] - 2026-11-30\n")
    (top / ".gitignore").write_text(".venv/\n")
    (top / ".venv").mkdir()
    (top / ".venv/.installed-check").touch()
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "First"]):
        subprocess.run(["git", *words], cwd=top, check=True)
    return top


@pytest.mark.parametrize(
    ("words", "change", "complaint"),
    [
        ("", "", "which version? X.Y.Z"),
        ("0.2", "", "which version? X.Y.Z"),
        ("0.2.0", "touch new", "there are changes that are not committed"),
        ("0.2.0", "git tag v0.2.0", "there is a tag v0.2.0"),
        ("0.2.0", "", "pyproject.toml does not say yet who has the repository: OWNER"),
        (
            "0.2.0 --dry-run",
            "sed -i s/-.News.// CHANGELOG.md; git -c user.name=a -c user.email=a@b commit -qam N",
            "CHANGELOG.md has nothing under [Unreleased]",
        ),
    ],
)
def test_a_release_is_refused(repository: Path, words: str, change: str, complaint: str) -> None:
    subprocess.run(change, shell=True, cwd=repository, check=True)
    command = [str(repository / "scripts/release"), *words.split()]
    done = subprocess.run(command, text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"scripts/release: {complaint}\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "extras", "command"),
    [
        (["a b"], "site", "-m mkdocs build --quiet --site-dir {here}/a b"),
        ([], "site", "-m mkdocs build --quiet --site-dir {top}/build/site"),
        (["--check", "-x"], "test,site,browser", "-m pytest -m slow -n 0 -rs tests/site -x"),
    ],
)
def test_the_site_is_built_or_checked(
    checkout: tuple[Path, dict[str, str]],
    tmp_path: Path,
    words: list[str],
    extras: str,
    command: str,
) -> None:
    top, env = checkout
    env = env | {"PATH": f"{tmp_path}/bin:{env['PATH']}"}
    script = [str(top / "scripts/site"), *words]
    done = subprocess.run(script, env=env, cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert done.stdout == f"ran {command.format(here=tmp_path, top=top)}\n"
    assert (tmp_path / "log").read_text().endswith(f" -e {top}[{extras}]\n")
