"""GitHub's workflow commands."""

from pathlib import Path

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reporting.github import commands


def test_a_failure() -> None:
    found = result(expected="100%\n2", got="3", source="f(a, b):c()\ng()")
    assert list(commands([page(found, name="a,b:c%.md")])) == [
        "::error file=a%2Cb%3Ac%25.md,line=5,endLine=7,title=differs%3A f(a%2C b)%3Ac()"
        "::FAIL a,b:c%25.md:5: differs%0A  input:%0A    > f(a, b):c()%0A    g()"
        "%0A  difference (- page, + program):%0A    - 100%25%0A    - 2%0A    + 3"
    ]


def test_each_cause_is_one_annotation() -> None:
    found = [result(Verdict.ERROR, got="stdin:1: bad", line=line) for line in (3, 5, 8)]
    (annotation,) = commands([page(*found)])
    assert annotation.startswith(
        "::error file=page.md,line=3,endLine=3,title=error%3A x::3 examples: bad%0Alines 3, 5, 8%0A"
    )
    assert len(list(commands([page(*found)], clustered=False))) == 3


def test_a_page_that_could_not_be_judged() -> None:
    assert list(commands([page(problem="bad\r\nledger")])) == [
        "::error file=page.md::bad%0D%0Aledger"
    ]


def test_what_holds_has_no_annotation() -> None:
    verdicts = (Verdict.PASS, Verdict.RAN, Verdict.ERRATUM, Verdict.XFAIL, Verdict.FRAGMENT)
    assert list(commands([page(*map(result, verdicts))])) == []


@pytest.mark.parametrize(
    ("folder", "name", "shown"),
    [
        ("", "page.md", "docs/page.md"),
        ("docs", "page.md", "page.md"),
        ("other", "page.md", "page.md"),
    ],
)
def test_paths_begin_at_the_top_of_the_repository(
    folder: str, name: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / folder))
    (annotation,) = commands([page(problem="bad", name=name)])
    assert annotation == f"::error file={shown}::bad"
