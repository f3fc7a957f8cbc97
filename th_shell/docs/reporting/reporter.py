"""Reports a run: the text while it goes on, and at its end the files and what else was asked for.

What a report writes are lines with control codes as digits; only colours of our own pass.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reporting import coverage
from th_shell.docs.reporting.excerpts import style_for
from th_shell.docs.reporting.report import TextReport
from th_shell.files import write_all
from th_shell.runtime.shell import Replacement

_STANDARD_OUTPUT = "-"


class CannotWriteError(Exception):
    """The results cannot be written; the message says why."""


class ReaderGoneError(Exception):
    """The reader of the report has closed its pipe, as `head` does."""


class Reporter:
    """The report of one run. Its methods raise CannotWriteError and ReaderGoneError."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Open the file: running the pages may take long, in vain if it cannot be written.

        options: those of the command line.
        """
        self._options = options
        self._descriptor = 2 if options.json == _STANDARD_OUTPUT else 1  # where the text goes
        style = style_for(self._descriptor)
        self._text = TextReport(len(options.pages), options.verbose, style)
        names = (options.json if self._descriptor == 1 else None, options.junitxml)
        self._json, self._junit = (_opened(name) if name else None for name in names)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in filter(None, (self._json, self._junit)):
            file.abandon()
            os.close(file.descriptor)

    def page(self, page: PageResult) -> None:
        """Report a page."""
        for line in self._text.page(page):
            self._say(line)

    def end(self, pages: Sequence[PageResult]) -> None:
        """Report the whole run."""
        for line in self._text.end():
            self._say(line)
        covered = self._coverage(pages) if self._options.coverage else None
        if self._options.json or self._junit:
            from th_shell.docs.reporting import results_files  # late: few runs write files

            if self._options.json:
                text = results_files.results_json(pages, covered)
                self._write(text, self._options.json, self._json)
            if self._junit:
                self._write(results_files.junit_xml(pages), self._options.junitxml, self._junit)

    def _coverage(self, pages: Sequence[PageResult]) -> coverage.Coverage:
        functions = coverage.documented(pages)
        is_of_torch = not functions or any(name.startswith("torch.") for name in functions)
        names = coverage.torch_names() if is_of_torch else ()
        measured = coverage.measure(pages, names, functions)
        for line in coverage.coverage_lines(measured):
            self._say(line)
        return measured

    def _say(self, line: str) -> None:
        write_text(f"{line}\n", self._descriptor)

    def _write(self, text: str, name: str, file: Replacement | None) -> None:
        if file is None:
            write_text(text, 1)
            return
        with _writing(name):
            write_all(file.descriptor, text.encode())
            file.commit()


def _opened(name: str) -> Replacement:
    with _writing(name):
        return Replacement(os.fsencode(name))


@contextmanager
def _writing(name: str) -> Iterator[None]:
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
