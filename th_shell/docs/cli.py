"""The command ``th-docs``: runs pages and reports the results; `_STATUS` has the exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from runtime import PROCESSORS
from th_shell.docs.checking import Checker
from th_shell.docs.command import run_options
from th_shell.docs.command.selection import NoPagesError, find_pages, is_there
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reporting.progress import Progress
from th_shell.docs.reporting.reporter import (
    CannotWriteError,
    ReaderGoneError,
    Reporter,
    add_report_options,
    write_text,
)
from th_shell.docs.running import sandbox
from th_shell.docs.running.processes import Starter
from th_shell.visible import UsageError


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """Add the pages and the options of this module to a command line."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="PAGE",
        help="a page, a folder of pages, or a pattern such as 'docs/**/*.md'",
    )
    group = parser.add_argument_group("which pages are run, and when")
    group.add_argument(
        "--changed",
        nargs="?",
        const="",
        metavar="BASE",
        help="run only those pages that are new or have changed, or the settings beside them, "
        "since this branch left BASE, a commit of git (default: the upstream or main branch)",
    )
    group.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        default=PROCESSORS,
        metavar="N",
        help="how many pages are run at a time (default: as many as there are processors)",
    )
    group.add_argument(
        "-x", "--fail-fast", action="store_true", help="stop behind the first page that fails"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def in_order(
    pages: Sequence[Path],
    check: Callable[[Path], PageResult],
    options: argparse.Namespace,
    starter: Starter,
) -> Iterator[PageResult]:
    """The results of pages, in their order, while others run.

    What still runs when nobody wants further results is stopped.
    """
    done = False
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for result in pool.map(check, pages):
                yield result
                if options.fail_fast and result.failed:
                    return
            done = True
        finally:
            if not done:
                pool.shutdown(wait=False, cancel_futures=True)
                starter.stop()


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
    words = sys.argv[1:] if argv is None else argv
    command = _COMMANDS.get(words[0]) if words else None
    try:
        return int(import_module(command).main(words[1:])) if command else _check(words)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ReaderGoneError:
        return _READER_GONE
    except CannotWriteError as error:
        with suppress(CannotWriteError, ReaderGoneError):
            write_text(f"th-docs: {error}\n", 2)
        return _WRONG_USAGE


#: What the first word may be instead of a page, and its module. (A page of that name is `./init`.)
_COMMANDS = {"fix": "th_shell.docs.fixing.fix", "init": "th_shell.docs.command.init"}


def _check(words: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(_with_pages(words))
    if options.sandbox and (lack := sandbox.missing()):
        parser.exit(_WRONG_USAGE, f"th-docs: --sandbox cannot be had: {lack}\n")
    try:
        options.pages = find_pages(options.words)
        if options.changed is not None:
            from th_shell.docs.command.changes import changed_pages  # late: few runs ask git

            options.pages = changed_pages(options.pages, options.changed)
            options.allow_empty = True
    except NoPagesError as error:
        parser.error(str(error))
    except UsageError as error:
        parser.error(f"--changed: {error}")
    results = []
    with Progress(len(options.pages)) as progress:
        with Reporter(options, progress) as reporter:
            for result in _results(options, progress):
                reporter.page(result)
                results.append(result)
            reporter.end(results)
    if any(result.failed for result in results):
        return 1
    is_empty = not any(result.results for result in results)
    return _NO_EXAMPLES if is_empty and not options.allow_empty else 0


def _with_pages(words: Sequence[str]) -> list[str]:
    """The words of a command line, where a page that stands behind --changed is not its BASE."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return ["--changed=" if a == "--changed" and is_there(b) else a for a, b in pairs]


def _results(options: argparse.Namespace, progress: Progress) -> Iterator[PageResult]:
    with Starter() as starter:
        checker = Checker(starter, Compiler(), run_options.said_by(options), options.update)

        def check(page: Path) -> PageResult:
            progress.begin(str(page))
            return checker.check(page)

        yield from in_order(options.pages, check, options, starter)


def _parser() -> run_options.Parser:
    parser = run_options.Parser(
        prog="th-docs",
        usage="%(prog)s [OPTION...] PAGE...\n"
        "       %(prog)s fix [OPTION...] PAGE...\n"
        "       %(prog)s init [FOLDER]",
        description="Run the examples of documentation pages and compare. `th-docs fix` writes "
        "what they print into the pages; `th-docs init` writes what a project needs.",
        epilog=_STATUS,
    )
    add_job_options(parser)
    judging = run_options.add_options(parser)
    judging.add_argument(
        "--update",
        action="store_true",
        help="write what pages do now into the files beside them, where it is checked",
    )
    judging.add_argument(
        "--allow-empty", action="store_true", help="do not fail if there are no examples at all"
    )
    add_report_options(parser)
    return parser
