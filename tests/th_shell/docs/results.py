"""Results for the tests of reports, made without running anything."""

from pathlib import Path

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import Example, Kind


def result(
    verdict: Verdict = Verdict.DIFFERS,
    expected: str = "",
    got: str = "",
    *,
    line: int = 5,
    source: str = "x",
    note: str = "",
    original: str = "",
    repaired: str = "",
    block: int = 0,
) -> Result:
    """The result of an example behind a prompt, whose documented text is on the next lines."""
    documented = (line + 1, line + 1 + expected.count("\n")) if expected else None
    example = Example(line, block, Kind.PROMPT, source, expected, last=line, documented=documented)
    return Result(example, verdict, got, note, original, repaired)


def page(*results: Result, name: str = "page.md", problem: str = "") -> PageResult:
    """The results of a page."""
    return PageResult(Path(name), results, problem)
