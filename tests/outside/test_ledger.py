from pathlib import Path

import pytest

from tests.outside import ledger, report
from tests.outside.ledger import Row
from tests.outside.sources import HERE, listed_pages

_LEDGER = HERE / "ledger"


def row(digest: str, verdict: str, line: int = 1, reason: str = "") -> Row:
    return Row("a.md", line, digest, verdict, reason)


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        (row("a", "pass"), row("a", "differs", 3), "new red: a.md:3: pass -> differs"),
        (row("a", "ran"), row("a", "error"), "new red: a.md:1: ran -> error"),
        (row("a", "pass"), row("a", "ran"), "no longer checked: a.md:1: pass -> ran"),
        (row("a", "pass"), None, "lost: a.md:1: pass"),
        (None, row("a", "error"), "new red: a.md:1: error"),
        (None, row("a", "pass"), "newly read: a.md:1: pass"),
        (row("a", "error"), row("a", "pass"), "new green: a.md:1: error -> pass"),
        (row("a", "error"), row("a", "differs"), "other verdict: a.md:1: error -> differs"),
        (row("a", "error"), row("a", "fragment"), "other verdict: a.md:1: error -> fragment"),
    ],
)
def test_changes(before: Row | None, now: Row | None, change: str) -> None:
    (found,) = ledger.changes([before] if before else [], [now] if now else [])
    assert str(found) == change
    assert found.is_worse == change.startswith(("new red", "no longer", "lost"))


def test_equal_examples_are_told_apart_by_their_order() -> None:
    before = [row("a", "pass", 1), row("a", "error", 2)]
    assert not list(ledger.changes(before, before))
    (found,) = ledger.changes(before, [row("a", "pass", 5), row("a", "pass", 6)])
    assert str(found) == "new green: a.md:6: error -> pass"


def test_reasons_stay_with_examples_that_are_not_green() -> None:
    before = [row("a", "error", 1, "page"), row("b", "error", 2, "follows 1")]
    now = [row("a", "differs", 4), row("b", "pass", 5), row("c", "error", 6)]
    kept = ledger.with_reasons(now, before)
    assert [row.reason for row in kept] == ["page", "", ""]


def test_a_ledger_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [row('"', "error", 1, "follows 12"), row("b", "pass", 2)]
    ledger.write(tmp_path / "a.tsv", rows)
    assert ledger.read(tmp_path / "a.tsv") == rows
    ledger.write(tmp_path / "a.tsv", [row("a", "error", 1, "dunno")])
    with pytest.raises(ValueError, match=r"a\.tsv: a\.md:1: no reason: dunno"):
        ledger.read(tmp_path / "a.tsv")


def test_each_listed_repository_has_a_ledger_and_each_red_a_reason() -> None:
    for page in listed_pages():
        assert (_LEDGER / f"{page.source.name}.tsv").exists(), page
    assert report.all_rates(_LEDGER)[-1].open == 0


def test_the_page_with_the_rates_is_that_of_the_ledger() -> None:
    assert report.PAGE.read_text() == report.text(_LEDGER)
