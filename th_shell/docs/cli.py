"""The command ``th-docs``: runs pages and reports the results.

The exit status is 0 if nothing fails, 1 if an example or a page fails, 2 for a wrong command line
or if the results cannot be written, 5 if there are no examples, 130 after Ctrl-C, and 141 if what
reads the report has closed its pipe.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from runtime import PROCESSORS
from th_shell.docs.checking import Checker
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.options import add_judging_options, add_running_options, said_by
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reporting.options import add_report_options, report_options
from th_shell.docs.reporting.progress import Progress
from th_shell.docs.reporting.reporter import (
    CannotWriteError,
    ReaderGoneError,
    Reporter,
    write_text,
)
from th_shell.docs.running import sandbox
from th_shell.docs.running.processes import Starter

__all__ = ["main"]

_WRONG_USAGE = 2
_NO_EXAMPLES = 5  # as pytest without tests
_INTERRUPTED = 130
_READER_GONE = 141  # as the shell says of what SIGPIPE has ended

_STATUS = (
    "The exit status is 0 if nothing fails, 1 if an example or a page fails, 2 for a wrong command "
    "line or if the results cannot be written, 5 if there are no examples, 130 after Ctrl-C, 141 "
    "if what reads the report has closed its pipe."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run th-docs; returns the exit status."""
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        if options.sandbox and (lack := sandbox.missing()):
            parser.exit(_WRONG_USAGE, f"th-docs: --sandbox cannot be had: {lack}\n")
        return _run(options)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ReaderGoneError:
        return _READER_GONE
    except CannotWriteError as error:
        with suppress(CannotWriteError, ReaderGoneError):
            write_text(f"th-docs: {error}\n", 2)
        return _WRONG_USAGE


def _run(options: argparse.Namespace) -> int:
    results = []
    with Progress(len(options.pages)) as progress:
        with Reporter(report_options(options), progress) as reporter:
            for result in _check(options, progress):
                reporter.page(result)
                results.append(result)
            reporter.end(results)
    if any(result.failed for result in results):
        return 1
    is_empty = not any(result.results for result in results)
    return _NO_EXAMPLES if is_empty and not options.allow_empty else 0


class _Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be written; argparse says nothing."""

    def print_help(self, file: object = None) -> None:
        write_text(self.format_help(), 1)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="th-docs",
        description="Run the examples of documentation pages and compare.",
        epilog=_STATUS,
    )
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE", help="a page")
    parser.add_argument(
        "--update",
        action="store_true",
        help="write what pages do now into their ledgers and baselines, where it is checked",
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="do not fail if there are no examples at all"
    )
    add_running_options(parser)
    add_judging_options(parser)
    add_report_options(parser)
    return parser


def _check(options: argparse.Namespace, progress: Progress) -> Iterator[PageResult]:
    # The results come in the order of the command line.
    with Starter() as starter, ThreadPoolExecutor(max(1, PROCESSORS // 2)) as pool:
        checker = Checker(starter, Compiler(), said_by(options), options.update)

        def check(page: Path) -> PageResult:
            progress.begin(str(page))
            return checker.check(page)

        try:
            yield from pool.map(check, options.pages)
        except (KeyboardInterrupt, GeneratorExit):  # GeneratorExit: an error ended the report
            pool.shutdown(wait=False, cancel_futures=True)
            starter.stop()
            raise
