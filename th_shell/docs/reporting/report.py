"""Writes results as text for people and as JSON for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Any

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.languages import PYTHON

__all__ = ["as_json", "describe_failure", "page_lines", "total_line"]

#: Lines of an input or output that the text shows at most; JSON has all of them.
_LINES = 40


def page_lines(page: PageResult, verbose: bool = False) -> Iterator[str]:
    """A page's failures, then its counts; with verbose, first a line for each example."""
    if verbose:
        for result in page.results:
            note = f"  [{result.note}]" if result.note else ""
            yield f"{_place(page, result)}: {result.verdict.value:8} {_headline(result)}{note}"
    for result in page.results:
        if result.failed:
            yield describe_failure(page, result)
    if page.problem:
        yield f"FAIL {page.page}: {page.problem}"
    yield f"{page.page}: {_counts([page])}"


def total_line(pages: Sequence[PageResult]) -> str:
    """A line with the counts of all pages."""
    return f"{len(pages)} pages: {_counts(pages)}"


def describe_failure(page: PageResult, result: Result) -> str:
    """An example's position, input and documented output, and what it has printed."""
    note = f" ({result.note})" if result.note else ""
    return "\n".join(
        [
            f"FAIL {_place(page, result)}: {result.verdict.value}{note}",
            *_section("input", _input(result)),
            *_section("expected", result.example.expected or "(nothing documented)"),
            *_section("got", result.got or "(nothing)"),
            "",
        ]
    )


def as_json(pages: Sequence[PageResult]) -> dict[str, Any]:
    """All results, in the types that `json.dump` takes."""
    return {
        "failed": any(page.failed for page in pages),
        "pages": [_page_json(page) for page in pages],
    }


def _page_json(page: PageResult) -> dict[str, Any]:
    return {
        "page": str(page.page),
        "problem": page.problem,
        "counts": {verdict.value: count for verdict, count in _tally([page]).items()},
        "examples": [
            {
                "line": result.example.line,
                "kind": result.example.kind.value,
                "input": result.example.source,
                "expected": result.example.expected,
                "got": result.got,
                "verdict": result.verdict.value,
                "note": result.note,
            }
            for result in page.results
        ],
    }


def _tally(pages: Sequence[PageResult]) -> Counter[Verdict]:
    return Counter(result.verdict for page in pages for result in page.results)


def _counts(pages: Sequence[PageResult]) -> str:
    tally = _tally(pages)
    counts = ", ".join(f"{tally[v]} {v.value}" for v in Verdict if tally[v])
    total = sum(tally.values())
    checked = sum(result.checked for page in pages for result in page.results)
    if not total:
        return "no examples"
    return f"checked {checked} of {total} example{'s'[: total != 1]}: {counts}"


def _place(page: PageResult, result: Result) -> str:
    return f"{page.page}:{result.example.line}"


def _headline(result: Result) -> str:
    return _input(result).split("\n")[0]


def _input(result: Result) -> str:
    prompt = ">>> " if result.example.language == PYTHON else "> "
    prefix = {Kind.PROMPT: prompt, Kind.SHELL: "$ "}.get(result.example.kind, "")
    return prefix + result.example.source


def _section(title: str, text: str) -> Iterator[str]:
    lines = text.expandtabs().strip("\n").split("\n")
    if len(lines) > _LINES:
        lines[_LINES:] = [f"... {len(lines) - _LINES} more lines"]
    yield f"  {title}:"
    yield indent("\n".join(lines), "    ")
