"""The text of the report."""

from dataclasses import replace

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import PageResult, Verdict
from th_shell.docs.reporting.excerpts import PLAIN, Style
from th_shell.docs.reporting.report import TextReport, describe_failure


def report(*pages: PageResult, verbose: bool = False, style: Style = PLAIN) -> str:
    text = TextReport(len(pages), verbose, style)
    lines = [line for page in pages for line in text.page(page)]
    return "".join(f"{line}\n" for line in [*lines, *text.end()])


def test_failures_and_counts() -> None:
    nil = "stdin:1: attempt to call field 'foo' (a nil value)\n"
    first = page(result(Verdict.ERROR, got=nil, line=1, source="foo()"))
    second = replace(page(result(Verdict.PASS), name="other.md"), unread=2)
    assert (
        report(first, second)
        == """\
FAIL page.md:1: error
  input:
    > foo()
  expected:
    (nothing documented)
  got:
    stdin:1: attempt to call field 'foo' (a nil value)

page.md: checked 1 of 1 example: 1 error
other.md: checked 1 of 1 example: 1 pass; 2 blocks in other languages
2 pages: checked 2 of 2 examples: 1 pass, 1 error; 2 blocks in other languages
"""
    )


def test_verdicts_that_the_summary_explains() -> None:
    verdicts = [Verdict.FRAGMENT, Verdict.FRAGMENT, Verdict.XFAIL, Verdict.PASS]
    assert (
        report(page(*map(result, verdicts)))
        == """\
2 fragment: not counted as failures: they need what is not there, as values of names
1 xfail: not counted as failures: the page's settings expect them to fail
page.md: checked 2 of 4 examples: 1 pass, 2 fragment, 1 xfail
"""
    )


def test_a_diff() -> None:
    found = result(expected="1 2", got="1 3\n", note="why")
    assert describe_failure(page(), found) == (
        "FAIL page.md:5: differs (why)\n  input:\n    > x\n"
        "  difference (- page, + program):\n    - 1 2\n    + 1 3\n"
    )


def test_both_texts_are_shown_where_nothing_that_counts_differs() -> None:
    found = result(expected="1", got="1.0", note="by chance, but too small")
    assert describe_failure(page(), found).endswith("  expected:\n    1\n  got:\n    1.0\n")


@pytest.mark.parametrize(
    ("found", "repair"),
    [
        (result(Verdict.HEALED, "5", "nil", source="X", original="> X", repaired="> x"),
         "    - > X\n    + > x\n"),
        (result(Verdict.HEALED, "5 6\n7", "5\n6\n7", original="5 6\n7", repaired="5\n6\n7"),
         "    - 5 6\n    + 5\n    + 6\n      7\n"),
    ],
)  # fmt: skip
def test_repairs_are_shown_beside_the_original(found: object, repair: str) -> None:
    shown = report(page(found))  # type: ignore[arg-type]
    assert f"  repair, with which it holds:\n{repair}" in shown
    assert "1 healed: they hold after one small repair of the page's text\n" in shown


@pytest.mark.thorough
def test_a_huge_line_is_cut() -> None:
    huge = "y" * 5_000_000
    found = result(expected=huge, got=huge[1:], source=f"x = '{huge}'", note=huge)
    shown = report(page(found), verbose=True)
    assert len(shown) < 5000
    assert "[... 4999600 more characters]" in shown


def test_control_codes_are_digits_everywhere() -> None:
    code = "\x1b[2J"
    found = [
        result(expected=code, got=code + code, source=code, note=code, repaired=code),
        result(Verdict.ERROR, got=code, note=code),
        result(Verdict.ERROR, got=code, note=code),
    ]
    pages = [page(*found, name=f"{code}.md", problem=code), page(*found)]
    for verbose in (False, True):
        shown = report(*pages, verbose=verbose)
        assert "\x1b" not in shown
        assert r"\027[2J" in shown


def test_colours() -> None:
    shown = report(page(result(expected="1", got="2")), style=Style(True))
    assert shown.startswith("\x1b[31mFAIL\x1b[0m \x1b[1mpage.md:5\x1b[0m: differs\n")
    assert "\x1b[31m- 1\x1b[0m" in shown
    assert "\x1b[32m+ 2\x1b[0m" in shown
