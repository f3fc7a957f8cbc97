"""What the tests of the documentation runner share: the processes that run pages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.starters import shared
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import PageText
from th_shell.docs.reading.page import read, read_text, text_of
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter


@pytest.fixture(scope="session")
def starter() -> Starter:
    return shared()


@pytest.fixture(scope="session")
def runner(starter: Starter) -> Runner:
    return Runner(starter)


def read_page(path: Path) -> PageText:
    """The blocks of a page in a file."""
    return read_text(text_of(path), path.name)


CheckPage = Callable[..., PageResult]


@pytest.fixture
def check_text(runner: Runner, tmp_path: Path) -> CheckPage:
    """Checks a page of this text: page.md, or page.txt with as_text; update: see check_page."""

    def check(text: str, update: bool = False, as_text: bool = False) -> PageResult:
        page = tmp_path / ("page.txt" if as_text else "page.md")
        page.write_text(text)
        return check_page(read(page, Compiler()), runner, update)

    return check
