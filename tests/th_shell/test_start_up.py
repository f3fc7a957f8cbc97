"""Python modules in the folder where th is run are not imported."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]

MODULES = ("numpy", "lupa", "scipy", "json", "random", "argparse", "markdown_it", "prompt_toolkit")
CALL = "print(torch.inverse(torch.eye(2)):sum())"
PAGE = "```lua\n> torch.inverse(torch.eye(2)):sum()\n2\n```\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with modules that must not run, and a page."""
    for module in MODULES:
        (tmp_path / f"{module}.py").write_text("import os\nos.write(2, b'imported')\nos._exit(9)\n")
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path


def run(folder: Path, *command: str, path: str = str(TOP)) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


SHELL = (0, "2\t\n", "")
DOCS = (0, "page.md: checked 1 of 1 example: 1 pass\n", "")


@pytest.mark.thorough
def test_as_a_module(folder: Path) -> None:
    assert run(folder, sys.executable, "-m", "th_shell", "-e", CALL) == SHELL


@pytest.mark.thorough
def test_pages_as_a_module(folder: Path) -> None:
    assert run(folder, sys.executable, "-m", "th_shell.docs", "page.md") == DOCS


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "module"), [("th", "th_shell"), ("th-docs", "th_shell.docs")])
def test_commands(folder: Path, name: str, module: str) -> None:
    command = shutil.which(name, path=os.path.dirname(sys.executable))
    if command is None:
        pytest.skip("the commands are not installed")
    arguments = ["-e", CALL] if name == "th" else ["page.md"]
    assert run(folder, command, *arguments) == (SHELL if name == "th" else DOCS)


@pytest.fixture
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a checkout whose .venv is there already: this interpreter's."""
    top = tmp_path_factory.mktemp("checkout")
    shutil.copytree(TOP / "scripts", top / "scripts")
    shutil.copy(TOP / "pyproject.toml", top)
    (top / ".venv" / "bin").mkdir(parents=True)
    (top / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for name in ("lib", "pyvenv.cfg"):
        (top / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    (top / ".venv" / ".installed-run").touch()
    return top / "scripts"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["th", "th-docs"])
def test_scripts(folder: Path, scripts: Path, name: str) -> None:
    if shutil.which(name, path=os.path.dirname(sys.executable)) is None:
        pytest.skip("the commands are not installed")
    arguments = ["-e", CALL] if name == "th" else ["page.md"]
    found = run(folder, str(scripts / name), *arguments, path=str(folder))
    assert found == (SHELL if name == "th" else DOCS)


def test_modules_that_the_user_asks_for(folder: Path) -> None:
    source = "import sys; from th_shell.start_up import forget_folder; forget_folder()"
    source += f"; print({str(folder)!r} in sys.path)"
    (folder / "code.py").write_text(source)
    path = os.pathsep.join((str(TOP), str(folder)))
    assert run(folder, sys.executable, "-m", "code", path=path)[1] == "True\n"
    assert run(folder, sys.executable, "-m", "code")[1] == "False\n"


def test_a_checkout_that_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "th_shell").mkdir()
    (tmp_path / "th_shell" / "__init__.py").touch()
    shutil.copy(TOP / "th_shell" / "start_up.py", tmp_path / "th_shell")
    (tmp_path / "code.py").write_text(
        "import sys; from th_shell.start_up import forget_folder; forget_folder()\n"
        "import th_shell; print(list(th_shell.__path__))\n"
    )
    found = run(tmp_path, sys.executable, "-m", "code", path="")
    assert found == (0, f"[{str(tmp_path / 'th_shell')!r}]\n", "")
