"""The text of the report."""

from dataclasses import replace

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.reasons import FOLLOWS, LACKS
from th_shell.docs.judging.verdicts import PageResult, Verdict
from th_shell.docs.reporting.excerpts import Style
from th_shell.docs.reporting.report import TextReport, View, describe_failure


def report(view: View, *pages: PageResult) -> str:
    text = TextReport(view, len(pages))
    lines = [line for page in pages for line in text.page(page)]
    return "".join(f"{line}\n" for line in [*lines, *text.end()])


NIL = "stdin:1: attempt to call field 'foo' (a nil value)\n"
FIRST = page(*(result(Verdict.ERROR, got=NIL, line=line, source="foo()") for line in range(1, 31)))
SECOND = page(result(Verdict.ERROR, got=NIL, line=7), result(Verdict.PASS), name="other.md")


def test_each_cause_is_shown_once() -> None:
    assert (
        report(View(), FIRST, SECOND)
        == """\
FAIL page.md:1: error: 30 examples: attempt to call field 'foo' (a nil value)
  lines: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, and 10 more
  input:
    > foo()
  expected:
    (nothing documented)
  got:
    stdin:1: attempt to call field 'foo' (a nil value)

page.md: checked 30 of 30 examples: 30 error
FAIL other.md:7: error: attempt to call field 'foo' (a nil value) [as page.md:1]

other.md: checked 2 of 2 examples: 1 pass, 1 error
31 examples in 2 pages: error: attempt to call field 'foo' (a nil value)
2 pages: checked 32 of 32 examples: 1 pass, 31 error
"""
    )


def test_every_failure_is_shown_if_asked_for() -> None:
    shown = report(View(clustered=False), FIRST, SECOND)
    assert shown.count("FAIL ") == 31
    assert "error: 30 examples" not in shown
    assert "31 examples in" not in shown


def test_verdicts_that_the_summary_explains() -> None:
    verdicts = [Verdict.FRAGMENT, Verdict.FRAGMENT, Verdict.XFAIL, Verdict.PASS]
    assert (
        report(View(), page(*map(result, verdicts)))
        == """\
2 fragment: not counted as failures: they use names that the page gives no value
1 xfail: not counted as failures: the page's settings expect them to fail
page.md: checked 2 of 4 examples: 1 pass, 2 fragment, 1 xfail
"""
    )


def test_what_a_page_leaves_out_is_said_once() -> None:
    lacks = result(Verdict.FRAGMENT, note=f"{LACKS}Linear, nn")
    follows = result(Verdict.FRAGMENT, note=f"{FOLLOWS} {lacks.example.line}")
    page_of_signatures = replace(page(lacks, follows, result(Verdict.PASS)), unread=2)
    assert (
        report(View(), page_of_signatures)
        == """\
2 fragment: not counted as failures: they use names that the page gives no value
2 examples need Linear, which nothing defines: a --prelude can
2 examples need nn, which nothing defines: a --prelude can
page.md: checked 1 of 3 examples: 1 pass, 2 fragment; 2 blocks in other languages
"""
    )
    after_an_error = page(
        result(Verdict.ERROR, note=""), result(Verdict.FRAGMENT, note=f"{FOLLOWS} 5")
    )
    assert "\n1 example follows from page.md:5\n" in report(View(), after_an_error)


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (View(), "  difference (- page, + program):\n    - 1 2\n    + 1 3\n"),
        (View(diff="words"), "  difference ([-page-] {+program+}):\n      1 [-2-] {+3+}\n"),
        (View(diff="none"), "  expected:\n    1 2\n  got:\n    1 3\n"),
    ],
)
def test_kinds_of_diffs(view: View, shown: str) -> None:
    found = result(expected="1 2", got="1 3\n", note="why")
    head = "FAIL page.md:5: differs (why)\n  input:\n    > x\n"
    assert describe_failure(page(), found, view) == head + shown


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
    shown = report(View(), page(found))  # type: ignore[arg-type]
    assert f"  repair, with which it holds:\n{repair}" in shown
    assert "1 healed: they hold after one small repair of the page's text\n" in shown


@pytest.mark.thorough
def test_a_huge_line_is_cut() -> None:
    huge = "y" * 5_000_000
    found = result(expected=huge, got=huge[1:], source=f"x = '{huge}'", note=huge)
    shown = report(View(verbose=True, clustered=False), page(found))
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
    for view in (View(), View(verbose=True, clustered=False), View(diff="words")):
        shown = report(view, *pages)
        assert "\x1b" not in shown
        assert r"\027[2J" in shown


def test_colours() -> None:
    shown = report(View(style=Style(True)), page(result(expected="1", got="2")))
    assert shown.startswith("\x1b[31mFAIL\x1b[0m \x1b[1mpage.md:5\x1b[0m: differs\n")
    assert "\x1b[31m- 1\x1b[0m" in shown
    assert "\x1b[32m+ 2\x1b[0m" in shown
