"""Captured parts of outputs, in later inputs and outputs."""

import re

import pytest

from th_shell.docs.settings.settings import Captures, Filter, filtered


@pytest.mark.parametrize(
    ("names", "expected", "output", "value", "named"),
    [
        (["file"], "<file>", "/tmp/a b\n", "/tmp/a b", "<file>\n"),
        (["file"], "saved as <file>, all", "saved  as\tx.t7, all\n", "x.t7", None),
        (["a", "b"], "<a> and <b>", "1 and 2", "1", "<a> and <b>"),
        (["a"], "<a> = <a>", "7 = 7", "7", "<a> = <a>"),
        (["a"], "<a> = <a>", "7 = 8", "<a>", "7 = 8"),
        (["a"], "<a> and <b>", "1 and 2", "<a>", "1 and 2"),
        (["a"], "1", "1", "<a>", "1"),
        (["a"], "n <a>", "m 1", "<a>", "m 1"),
        ([], "<a>", "1", "<a>", "1"),
        (["a"], "<a> (x)", "1 (x)", "1", "<a> (x)"),
        (["a"], "<a> 11", "1 11", "1", "<a> 11"),
    ],
)
def test_capture(
    names: list[str], expected: str, output: str, value: str, named: str | None
) -> None:
    captures = Captures()
    wanted = "saved  as\t<file>, all\n" if named is None else named
    assert captures.named(names, expected, output) == [wanted]
    assert captures.paste(f"<{(names or ['a'])[0]}>") == value


def test_a_captured_text_has_its_name_only_where_the_page_shows_that() -> None:
    captures = Captures()
    captures.named(["n"], "<n>", "42")
    assert captures.named([], "42", "42") == ["42"]
    assert captures.named([], "<n> 1", "42 1", "42") == ["<n> 1", "<n>"]
    assert captures.named(["n"], "<n>", "43") == ["43"]  # it keeps its value
    assert captures.named(["m"], "<n>-<m>", "42-43") == ["<n>-<m>"]
    assert captures.paste("<n> <m> <o>") == "42 43 <o>"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("in 3 s", "in 14 s", "in 15 s"), ("in T", "in T", "in T")),
        (("in 3 s", "in 14 s", "none"), ("in 3 s", "in 14 s", "none")),
        (("none", "in 14 s", "in 15 s"), ("none", "in 14 s", "in 15 s")),
        (("3 s 4 s", "5 s", "6 s"), ("T T", "T", "T")),
    ],
)
def test_filters_count_where_all_texts_match(
    texts: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert filtered([Filter(re.compile(r"\d+ s"), "T")], *texts) == found


def test_filters_follow_one_another() -> None:
    filters = [Filter(re.compile("a"), "b"), Filter(re.compile("bb"), "c")]
    assert filtered(filters, "ab", "ba") == ("c", "c")
