"""The torch of Python pages: whose it is, and pages that leave out its import."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import Checker
from th_shell.docs.cli import main
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import LUA, Block, Line
from th_shell.docs.running.configured import missing_packages
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.configuration import configuration
from th_shell.docs.settings.settings import Configuration, SettingsError

COMPILER = Compiler()

#: A module that is called torch, as an environment may have it.
INSTALLED = data(__file__, "INSTALLED")

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, starter: Starter) -> Iterator[Run]:
    """Runs a page where that torch is installed; returns the verdicts."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "torch.py").write_text(INSTALLED)
    page = tmp_path / "page.md"

    def run(text: str, **said: object) -> str:
        given = {"torch": "installed", "environment": {"PYTHONPATH": str(site)}, **said}
        page.write_text(text)
        found = Checker(starter, COMPILER, Configuration(**given)).check(page)  # type: ignore[arg-type]
        assert not found.problem
        return " ".join(result.verdict.value for result in found.results)

    yield run


@pytest.mark.parametrize(
    ("code", "packages"),
    [
        ("m = nn.Linear(2, 3)", ["nn"]),
        ("m = nn.Linear(2, 3):float()", ["nn"]),
        ("x = nn.Identity()()", ["nn", "nngraph"]),
        ("g = nn.gModule({x}, {y})", ["nn", "nngraph"]),
        ("require 'nn'\nx = nn.Identity()()", []),
    ],
)
def test_packages_of_torch7_that_a_page_leaves_out(code: str, packages: list[str]) -> None:
    lines = tuple(Line(at, text) for at, text in enumerate(code.split("\n"), 1))
    assert missing_packages(cut([Block(0, 9, LUA, lines)], COMPILER)) == packages


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "verdicts"), data(__file__, "test_imports_that_a_page_leaves_out")
)
def test_imports_that_a_page_leaves_out(run: Run, text: str, verdicts: str) -> None:
    assert run(f"```python\n{text}\n```\n") == verdicts


@pytest.mark.thorough
def test_what_is_not_installed_is_missing(run: Run) -> None:
    page = "```python\n>>> torch.ones(2)\n[1.0, 1.0]\n```\n"
    isolated = {"python": [sys.executable, "-I", "-S"]}
    assert run(page, engine=isolated) == "fragment"


@pytest.mark.thorough
def test_what_is_installed_is_taken_where_it_is_asked_for(run: Run) -> None:
    page = "```python\n>>> import torch\n>>> torch.ones(1) == [1]\nTrue\n```\n"
    assert run(page) == "ran pass"
    assert run(page, torch=None) != "ran pass"
    assert run(page, torch="th") != "ran pass"
    own = {"python": [sys.executable]}
    assert run(page, torch=None, engine=own) == "ran pass"


# -- the language of blocks

BARE = "```\nx = [1, 2]\nx += x\n```\n"


@pytest.mark.thorough
def test_blocks_that_tell_no_language(run: Run) -> None:
    assert run(BARE, language="python") == "ran"
    assert run(BARE, language="lua") == run(BARE) == "text"
    both = f"{BARE}\n```\n> #'a'\n1\n```\n\n```\n>>> len(x)\n4\n```\n\n```lua\ny = 1\n```\n"
    assert run(both, language="python") == "ran pass pass ran"


# -- the command line, and folders


@pytest.mark.thorough
def test_words_and_what_they_show(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page, site = tmp_path / "page.md", tmp_path / "site"
    site.mkdir()
    (site / "torch.py").write_text(INSTALLED)
    (tmp_path / "th-docs.toml").write_text(
        f'torch = "th"\nlanguage = "lua"\nenvironment = {{PYTHONPATH = "{site}"}}'
    )
    page.write_text(f"{BARE}\n```\n>>> torch.ones(9)\n```\n")
    assert main(["-v", "--torch", "installed", "--language", "py", str(page)]) == 5
    out = capfd.readouterr().out.split("\n")
    assert (
        "device   >>> torch.ones(9)  [needs a device: RuntimeError: Found no NVIDIA driver"
        in out[1]
    )
    assert out[2] == "1 device: not counted as failures: they need a device that is not there"


@pytest.mark.parametrize(
    ("words", "problem"),
    data(__file__, "test_wrong_words"),
)
def test_wrong_words(words: list[str], problem: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "page.md"])
    assert f"th-docs: error: {problem}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("said", "problem"),
    data(__file__, "test_wrong_settings"),
)
def test_wrong_settings(said: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "th-docs.toml").write_text(said)
    with pytest.raises(SettingsError) as raised:
        configuration(tmp_path / "page.md", Configuration())
    assert str(raised.value) == f"{tmp_path}/th-docs.toml: {problem}"


@pytest.mark.parametrize(
    ("code", "verdicts"),
    [
        ("nn.own --> 3\nnn.lost()", "pass fragment"),
        ("require 'ffi'\nnn.own --> 3", "ran fragment"),
        ("nn = {own = 4}\nnn.own --> 3\nnn.lost()", "ran differs error"),
    ],
)
def test_a_page_that_requires_nothing_has_the_packages_of_torch7(
    starter: Starter, tmp_path: Path, code: str, verdicts: str
) -> None:
    (tmp_path / "nn.lua").write_text("nn = {own = 3}")
    page = tmp_path / "page.md"
    page.write_text(f"```lua\n{code}\n```\n")
    rules = Configuration(lua_path=f"{tmp_path}/?.lua")
    found = Checker(starter, COMPILER, rules).check(page)
    assert " ".join(result.verdict.value for result in found.results) == verdicts
