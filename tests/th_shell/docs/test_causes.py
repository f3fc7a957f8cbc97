"""Which failures have one cause."""

import time

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reporting.causes import cause_of, clusters

NIL = "attempt to call field 'foo' (a nil value)"
ERROR, DAMAGED, HEALED = Verdict.ERROR, Verdict.DAMAGED, Verdict.HEALED


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            result(ERROR, "1", f"stdin:1: {NIL}\nstack traceback:\n\t[C]: ?"),
            result(ERROR, got=f'printed\n[string "x"]:3: {NIL}'),
            NIL,
        ),
        (result(ERROR, note="was stopped after 1 s"), result(ERROR, note="was stopped after 2 s"),
         "was stopped after 1 s"),
        (
            result(expected="1\n[torch.Tensor of size 1]", got="1\n[torch.FloatTensor of size 1]"),
            result(expected="2\n[torch.Tensor of size 1]", got="2\n[torch.FloatTensor of size 1]"),
            "the page says 'torch.Tensor', the program says 'torch.FloatTensor'",
        ),
        (result(expected="1 2", got="nil\n"), result(expected="3", got="nil"),
         "the program prints only 'nil'"),
        (result(expected="1 2"), result(expected="3"), "the program prints nothing"),
        (result(expected="1 0 0", got="1 0 0 0"), result(expected="2 0", got="2 0 0"),
         "the page does not have '0'"),
        (result(expected="1 9 2", got="1 2"), result(expected="3 9", got="3"),
         "only the page has '9'"),
        (result(got="3", note="the page documents nothing"), result(got="4", note="the page "
         "documents nothing"), "the page documents nothing"),
        (result(DAMAGED, "1", "2", note="3 numbers for 4 elements"),
         result(DAMAGED, "1", "2", note="1 numbers for 9 elements"), "3 numbers for 4 elements"),
        (result(DAMAGED, "1", "2", note="8x5: 3 numbers"),
         result(DAMAGED, "1", "2", note="2: 4 numbers"), "8x5: 3 numbers"),
        (result(expected="on 2011-03-02 12", got="on 2011-03-02T12"),
         result(expected="on 2012-04-01 15", got="on 2012-04-01T15"),
         "the page says '-02 12', the program says '-02T12'"),
        (result(HEALED, source="X:t()", original="X:t()", repaired="x:t()", expected="1"),
         result(HEALED, source="X + 1", original="X + 1", repaired="x + 1", expected="7"),
         "the page has 'X', right is 'x'"),
    ],
)  # fmt: skip
def test_one_cause(first: Result, second: Result, words: str) -> None:
    (cluster,) = clusters([page(first), page(second, name="other.md")])
    assert cluster.cause.words == words
    assert [member for _, member in cluster.members] == [first, second]
    assert cluster.pages == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (result(expected="1 2", got="1 3"), result(expected="1 2", got="1 4")),
        (result(ERROR, got="stdin:1: no field 'a'"), result(ERROR, got="stdin:1: no field 'b'")),
        (result(ERROR, note="n"), result(note="n")),
        # In what counts, both documented texts are what is printed: they have nothing in common.
        (result(expected="1", got="1.0"), result(expected="2", got="2.0")),
    ],
)
def test_two_causes(first: Result, second: Result) -> None:
    assert len(clusters([page(first, second)])) == 2


def test_what_does_not_fail_has_no_cause() -> None:
    fine = [result(verdict) for verdict in (Verdict.PASS, Verdict.ERRATUM, Verdict.XFAIL)]
    assert clusters([page(*fine)]) == []


@pytest.mark.parametrize("huge", ["x" * 1_000_000, "1" * 1_000_000 + "x", "\n" * 1_000_000])
def test_huge_texts_take_little_time(huge: str) -> None:
    begun = time.process_time()
    for verdict in (Verdict.ERROR, Verdict.DIFFERS, Verdict.HEALED):
        cause = cause_of(result(verdict, f"a {huge} b", f"a {huge} c", repaired=f"b {huge}"))
        assert len(cause.words) < 500
    assert time.process_time() - begun < 2


def test_many_changes_are_shown_in_part() -> None:
    words = cause_of(result(expected="a 1 b 1 c 1 d 1", got="e 1 f 1 g 1 h 1")).words
    assert words.count("the page says") == 3
    assert words.endswith("; and 1 more differences")
