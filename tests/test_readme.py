"""The README and the pages that it leads to are pages like any other: their examples hold."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests import figures
from tests.data_files import data
from th_shell.docs.checking import Checker
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Configuration

TOP = Path(__file__).parents[1]
EXAMPLES = data(__file__, "EXAMPLES")

#: All pages that tell how the project is built and used.
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(
        str(path.relative_to(TOP))
        for folder in ("docs", "runtime", "th_shell", "tests")
        for path in sorted((TOP / folder).rglob("*.md"))
        if path.name == "README.md" or path.parent == TOP / folder
    ),
]


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    with Starter() as starter:
        yield Checker(starter, Compiler(), Configuration())


@pytest.mark.sample(1)
@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_hold(checker: Checker, page: str) -> None:
    result = checker.check(TOP / page)
    assert result.problem == ""
    # The commands that a page tells are text, or shell lines that are not run.
    commands = (Verdict.SKIPPED, Verdict.TEXT)
    verdicts = [one.verdict for one in result.results if one.verdict not in commands]
    assert verdicts.count(Verdict.PASS) == EXAMPLES[page]
    assert set(verdicts) <= {Verdict.PASS, Verdict.RAN}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)", (TOP / page).read_text())
    assert all((TOP / page).parent.joinpath(link).is_file() for link in links)


def test_readme_is_short() -> None:
    assert len((TOP / "README.md").read_text().splitlines()) <= 100


def test_the_commands_of_readme_are_scripts() -> None:
    commands = re.findall(r"^    scripts/(\w+)$", (TOP / "README.md").read_text(), re.M)
    assert commands == ["th", "test"]
    assert all((TOP / "scripts" / name).is_file() for name in commands)


def test_the_figures_of_readme_are_those_of_the_repository() -> None:
    assert figures.shown() == figures.table(), "run python -m tests.figures"


def test_figures_are_written_with_their_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "README", tmp_path / "README.md")
    monkeypatch.setattr(figures, "table", lambda: "| new |\n| 1 |")
    page = "Figures of {}.\n\n<!-- python -m tests.figures -->\n\n{}\n\nMore.\n"
    for before in ("| old |", "| new |\n| 1 |"):
        figures.README.write_text(page.format("2001-02-03", before))
        figures.write()
        day = date.today().isoformat() if "old" in before else "2001-02-03"
        assert figures.README.read_text() == page.format(day, "| new |\n| 1 |")
