"""Judges examples: compares what two runs of them have printed with what the page documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from th_shell.docs.judging.comparison import (
    agrees,
    agrees_by_layout,
    agrees_in_any_order,
    is_error_message,
    same,
)
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.evaluation import Outcome, unrunnable

__all__ = ["PageResult", "Result", "Verdict", "judge"]


class Verdict(Enum):
    """The result of an example."""

    PASS = "pass"  #: it has printed what the page documents
    LAYOUT = "layout"  #: its output depends on chance, and has the layout that the page documents
    RAN = "ran"  #: the page documents no output
    DIFFERS = "differs"  #: it has printed something else
    ERROR = "error"  #: it has raised an error, or its process has ended
    FRAGMENT = "fragment"  #: it fails, and uses names that the page never gives a value
    DAMAGED = "damaged"  #: it fails, and the documented text contradicts itself
    HEALED = "healed"  #: it fails, and holds after one small repair of the page's text
    XFAIL = "xfail"  #: it fails, and the page's settings say that it does
    SKIPPED = "skipped"  #: it was not run
    ERRATUM = "erratum"  #: it fails, and the ledger has the reason why the page is wrong


#: The verdicts that make a page fail.
FAILURES = frozenset((Verdict.DIFFERS, Verdict.ERROR))


@dataclass(frozen=True)
class Result:
    """An example's verdict.

    got: what it has printed, and its error. note: the reason, or ''. repaired: for what is healed,
    the input or the documented text with which it holds.
    """

    example: Example
    verdict: Verdict
    got: str = ""
    note: str = ""
    repaired: str = ""

    @property
    def failed(self) -> bool:
        """Whether this example makes the page fail."""
        return self.verdict in FAILURES

    @property
    def checked(self) -> bool:
        """Whether what the page documents was compared with what the example has done."""
        return self.verdict not in (Verdict.RAN, Verdict.FRAGMENT, Verdict.SKIPPED)


@dataclass(frozen=True)
class PageResult:
    """The results of a page. problem: why the page could not be read or judged, or ''."""

    page: Path
    results: Sequence[Result]
    problem: str = ""

    @property
    def failed(self) -> bool:
        """Whether the page could not be judged, or one of its examples makes it fail."""
        return bool(self.problem) or any(result.failed for result in self.results)


def judge(examples: Sequence[Example], outcomes: Sequence[tuple[Outcome, Outcome]]) -> list[Result]:
    """The verdicts of a page's examples by themselves."""
    results = []
    script, block = ("", ""), -1
    for example, (first, second) in zip(examples, outcomes, strict=True):
        candidates = [(first.output, second.output)]
        if example.kind is not Kind.BARE or example.block != block:
            script, block = ("", ""), example.block
        if example.kind is Kind.BARE:
            # Under several statements, the page may show what all of them print as a script.
            script = script[0] + first.printed, script[1] + second.printed
            candidates += [(first.printed, second.printed), script]
        results.append(_judge_one(example, first, second, candidates))
        if example.expected:
            script = ("", "")
    return results


def _judge_one(
    example: Example, first: Outcome, second: Outcome, candidates: list[tuple[str, str]]
) -> Result:
    why_not = unrunnable(example)
    if why_not:
        return Result(example, Verdict.SKIPPED, note=why_not)
    got = first.output + (first.error or "")
    if first.lost or second.lost:
        return Result(example, Verdict.ERROR, got, first.lost or second.lost)
    if first.error is not None or second.error is not None:
        return _judge_error(example, first, second, got)
    if not example.expected:
        return Result(example, Verdict.RAN, got)
    verdicts = [_compare(example.expected, *pair) for pair in candidates]
    best = next((v for v in (Verdict.PASS, Verdict.LAYOUT) if v in verdicts), Verdict.DIFFERS)
    note = "" if same(*candidates[0]) else "the output depends on chance; compared by layout"
    return Result(example, best, got, note if best is Verdict.DIFFERS else "")


def _judge_error(example: Example, first: Outcome, second: Outcome, got: str) -> Result:
    if first.error is None or second.error is None:
        message = first.error or second.error
        return Result(example, Verdict.ERROR, got, f"an error in one of two runs: {message}")
    documented = example.expected and is_error_message(example.expected, got)
    return Result(example, Verdict.PASS if documented else Verdict.ERROR, got)


def _compare(expected: str, first: str, second: str) -> Verdict:
    if agrees(expected, first) and agrees(expected, second):
        return Verdict.PASS
    if agrees_in_any_order(expected, first):
        return Verdict.LAYOUT
    if agrees_in_any_order(first, second):
        return Verdict.DIFFERS  # the runs differ in the order of fields alone
    by_chance = not same(first, second) and agrees_by_layout(expected, first, second)
    return Verdict.LAYOUT if by_chance else Verdict.DIFFERS
