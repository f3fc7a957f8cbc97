"""Examples in the docstrings of Python's modules."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.checking import check_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.selection import find_pages
from th_shell.docs.settings.settings import PageError

MODULE = data(__file__, "MODULE")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "numbers.py").write_text("TWO = 2\n")
    (folder / "__main__.py").write_text('""">>> 1"""')
    page = folder / "module.py"
    page.write_text(MODULE)
    return page


def test_each_docstring_has_the_names_of_its_module(module: Path, runner: Runner) -> None:
    found = check_page(read(module, Compiler()), runner)
    verdicts = [(r.example.heading, r.example.line, r.verdict.value) for r in found.results]
    assert verdicts == [
        ("", 3, "pass"),
        ("double", 12, "ran"),
        ("double", 13, "pass"),
        ("double", 18, "pass"),
        ("double", 24, "skipped"),
        ("Pair.sum", 35, "fragment"),
        ("Pair.sum", 37, "pass"),
        ("triple", 42, "pass"),
        ("'more'", 45, "pass"),
    ]


def test_modules_of_a_package(module: Path) -> None:
    (module.parent / "guide.md").write_text("")
    pages = find_pages([str(module.parent)])
    assert [page.name for page in pages] == ["guide.md", "module.py"]
    assert find_pages([str(module.parents[1])]) == [module.with_name("guide.md")]


def test_module_that_cannot_be_imported(tmp_path: Path, runner: Runner) -> None:
    page = tmp_path / "lacking.py"
    page.write_text('""">>> 1\n1\n>>> 2\n2\n"""\nimport nowhere_to_be_found\n')
    found = check_page(read(page, Compiler()), runner)
    assert [result.got.split("\n")[-1] for result in found.results] == [
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    ] * 2


@pytest.mark.parametrize(("text", "problem"), data(__file__, "test_what_cannot_be_read"))
def test_what_cannot_be_read(text: str, problem: str, tmp_path: Path) -> None:
    page = tmp_path / "module.py"
    page.write_text(text)
    with pytest.raises(PageError) as error:
        read_page(page)
    assert str(error.value).startswith(problem)
