"""Reports a run: the text while it goes on, and at its end the files that options ask for.

The text has the failures, and the counts of the verdicts. What a report writes are lines with
control codes as digits; only colours of our own pass.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from th_shell.docs.judging.printout import without_colours
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import PYTHON, Kind
from th_shell.docs.reporting import coverage
from th_shell.docs.reporting.excerpts import (
    PLAIN,
    Style,
    diff_lines,
    excerpt,
    first_line,
    style_for,
)
from th_shell.files import write_all
from th_shell.runtime.shell import Replacement
from th_shell.visible import visible

#: The summary's remarks on verdicts that are neither good nor a plain failure.
_MEANINGS = {
    Verdict.FRAGMENT: "not counted as failures: they need what is not there, as values of names",
    Verdict.DEVICE: "not counted as failures: they need a device that is not there",
    Verdict.DAMAGED: "the text that the page documents contradicts itself",
    Verdict.HEALED: "they hold after one small repair of the page's text",
    Verdict.XFAIL: "not counted as failures: the page's settings expect them to fail",
}

#: Why examples are not checked, where none is.
_UNCHECKED = {
    Verdict.RAN.value: " (the page shows no output)",
    Verdict.SKIPPED.value: " (not run)",
    Verdict.FRAGMENT.value: " (it lacks what the page does not make)",
    Verdict.DEVICE.value: " (it needs what is not there)",
}


class TextReport:
    """The text of a run, page by page."""

    def __init__(self, total: int, verbose: bool = False, style: Style = PLAIN) -> None:
        """Begin the report of so many pages. verbose: write a line for every example."""
        self._total = total
        self._verbose = verbose
        self._style = style
        self._pages: list[PageResult] = []

    def page(self, page: PageResult) -> Iterator[str]:
        """Yield a page's failures, then its counts; if verbose, first a line for each example."""
        self._pages.append(page)
        if self._verbose:
            yield from (_example_line(page, result) for result in page.results)
        for result in page.failures:
            yield describe_failure(page, result, self._style)
        if page.problem:
            yield f"{self._style.bad('FAIL')} {visible(f'{page.page}: {page.problem}')}"
        if self._total == 1:
            yield from _meanings([page])
        yield f"{self._style.strong(visible(str(page.page)))}: {_counts([page])}"

    def end(self) -> Iterator[str]:
        """Yield the summary of all pages: verdicts, and counts."""
        if min(self._total, len(self._pages)) == 0 or self._total == 1:
            return  # the page's own lines have said it
        yield from _meanings(self._pages)
        count, total = len(self._pages), self._total
        yield f"{count if count == total else f'{count} of {total}'} pages: {_counts(self._pages)}"


def describe_failure(page: PageResult, result: Result, style: Style = PLAIN) -> str:
    """Return an example's place, verdict and input, and how it differs from the page."""
    place = f"{style.bad('FAIL')} {style.strong(_place(page, result))}"
    return f"{place}: {describe(result, style)}"


def describe(result: Result, style: Style = PLAIN) -> str:
    """Return an example's verdict and input, and how what it has printed differs from the page."""
    note = f" ({first_line(result.note)})" if result.note else ""
    return "\n".join([f"{result.verdict.value}{note}", *_details(result, style), ""])


def tally(pages: Sequence[PageResult]) -> dict[str, int]:
    """Count the examples of each verdict, in the order of the verdicts."""
    counts = Counter(result.verdict for page in pages for result in page.results)
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}


# -- lines


def _example_line(page: PageResult, result: Result) -> str:
    note = f"  [{first_line(result.note)}]" if result.note else ""
    source = first_line(_input(result))
    return f"{_place(page, result)}: {result.verdict.value:8} {source}{note}"


def _place(page: PageResult, result: Result) -> str:
    return visible(f"{page.page}:{result.example.line}")


def _counts(pages: Sequence[PageResult]) -> str:
    counts = tally(pages)
    total = sum(counts.values()) - counts.get(Verdict.TEXT.value, 0)
    checked = sum(page.checked for page in pages)
    unread = sum(page.unread for page in pages)
    left = f"; {unread} block{'s'[: unread != 1]} in other languages" if unread else ""
    if lost := sum(bool(page.problem and not page.results) for page in pages):
        if lost == len(pages):
            return "not checked"
        left += f"; {lost} page{'s'[: lost != 1]} not checked"
    if not total:
        return f"no examples{left}"
    why = {} if checked else _UNCHECKED
    shown = ", ".join(f"{n} {verdict}{why.get(verdict, '')}" for verdict, n in counts.items())
    how_many = f"checked {checked}" if checked else "NOTHING WAS CHECKED"
    return f"{how_many} of {total} example{'s'[: total != 1]}: {shown}{left}"


def _meanings(pages: Sequence[PageResult]) -> Iterator[str]:
    """Yield a remark on each verdict that needs one, and the roots of failures."""
    counts = tally(pages)
    for verdict, meaning in _MEANINGS.items():
        if verdict.value in counts:
            yield f"{counts[verdict.value]} {verdict.value}: {meaning}"


# -- the details of a failure


def _input(result: Result) -> str:
    prompt = ">>> " if result.example.language == PYTHON else "> "
    prefix = {Kind.PROMPT: prompt, Kind.SHELL: "$ "}.get(result.example.kind, "")
    return prefix + result.example.source


def _details(result: Result, style: Style) -> Iterator[str]:
    yield from _section("input", excerpt(_input(result)))
    if result.repaired:
        repair = diff_lines(result.original, result.repaired, style, exact=True)
        yield from _section("repair, with which it holds", repair)
        return
    documented, printed = result.example.expected, result.got
    diff: list[str] = []
    if documented and printed and result.verdict is not Verdict.ERROR:
        diff = diff_lines(documented, printed, style)
    if diff:
        yield from _section("difference (- page, + program)", diff)
        return
    yield from _section("expected", excerpt(documented or "(nothing documented)"))
    yield from _section("got", excerpt(without_colours(printed) or "(nothing)"))


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"  {title}:"
    yield from (f"    {line}" if line else "" for line in lines)


# -- the report of a run

_STANDARD_OUTPUT = "-"


class CannotWriteError(Exception):
    """The results cannot be written; the message says why."""


class ReaderGoneError(Exception):
    """The reader of the report has closed its pipe, as `head` does."""


class Reporter:
    """The report of one run. Its methods raise CannotWriteError and ReaderGoneError."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Open the files: running the pages may take long, in vain if they cannot be written.

        options: those of the command line.
        """
        self._options = options
        self._descriptor = 2 if options.json == _STANDARD_OUTPUT else 1  # where the text goes
        style = style_for(self._descriptor)
        self._text = TextReport(len(options.pages), options.verbose, style)
        json = options.json if options.json != _STANDARD_OUTPUT else None
        self._files = {name: _opened(name) for name in (json, options.junitxml) if name}

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.abandon()
            os.close(file.descriptor)

    def page(self, page: PageResult) -> None:
        """Report a page."""
        self._say(self._text.page(page))

    def end(self, pages: Sequence[PageResult]) -> None:
        """Report the whole run."""
        self._say(self._text.end())
        options = self._options
        covered = coverage.measure(pages) if options.coverage else None
        if covered:
            self._say(coverage.coverage_lines(covered))
        if options.json or options.junitxml:
            from th_shell.docs.reporting import results_files  # late: few runs write files

            if options.json:
                self._write(results_files.results_json(pages, covered), options.json)
            if options.junitxml:
                self._write(results_files.junit_xml(pages), options.junitxml)

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            write_text(f"{line}\n", self._descriptor)

    def _write(self, text: str, name: str) -> None:
        """Write results to the file of a name, or to the standard output."""
        if name not in self._files:
            write_text(text, 1)
            return
        with _writing(name):
            write_all(self._files[name].descriptor, text.encode())
            self._files[name].commit()


def _opened(name: str) -> Replacement:
    with _writing(name):
        return Replacement(os.fsencode(name))


@contextmanager
def _writing(name: str) -> Iterator[None]:
    """Say of an error that a file cannot be written. Raises CannotWriteError."""
    try:
        yield
    except OSError as error:
        raise CannotWriteError(f"{name} cannot be written: {error.strerror}") from None


def write_text(text: str, descriptor: int) -> None:
    """Write a text to a standard stream. Raises CannotWriteError and ReaderGoneError."""
    try:
        # Bytes of a page that are no UTF-8 are written as they are in the page.
        write_all(descriptor, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from None
        raise CannotWriteError(f"write error: {error.strerror}") from None
