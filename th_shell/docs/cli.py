"""The command ``th-docs``: runs pages and reports the results."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from th_shell.docs.checking import Checker
from th_shell.docs.command_lines import parser_of, rules_of
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reporting.report import CannotWriteError, ReaderGoneError, Reporter, write_text
from th_shell.docs.running.processes import Starter
from th_shell.docs.selection import SUFFIXES, NoPagesError, changed_pages, find_pages, is_there
from th_shell.runtime.shell import PROCESSORS
from th_shell.visible import UsageError

_WRONG_USAGE = 2
#: Suffixes of pages that results cannot have: `--json docs/*.md` would lose a page.
_PAGES_ONLY = SUFFIXES - {".txt"} | {".th-docs"}
_NO_EXAMPLES = 5  # as pytest without tests; also where nothing was checked
_READER_GONE = 141  # as the shell says of what SIGPIPE has ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run th-docs; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    command = _COMMANDS.get(words[0]) if words else None
    try:
        return int(import_module(command).main(words[1:])) if command else _check(words)
    except ReaderGoneError:
        return _READER_GONE
    except CannotWriteError as error:
        with suppress(CannotWriteError, ReaderGoneError):
            write_text(f"th-docs: {error}\n", 2)
        return _WRONG_USAGE


#: Modules of commands by the first word. (A page of that name is `./init`.)
_COMMANDS = {"fix": "th_shell.docs.fix", "init": "th_shell.docs.init"}


def _check(words: Sequence[str]) -> int:
    parser = parser_of("th-docs")
    options = parser.parse_args(_with_pages(words))
    if options.sandbox:
        from th_shell.docs.running import sandbox  # late: few runs are sandboxed

        if lack := sandbox.missing():
            parser.exit(_WRONG_USAGE, f"th-docs: --sandbox cannot be had: {lack}\n")
    try:
        options.pages = find_pages(options.words)
        if options.changed is not None:
            options.pages = changed_pages(options.pages, options.changed)
            options.allow_empty = True
    except NoPagesError as error:
        parser.error(str(error))
    except UsageError as error:
        parser.error(f"--changed: {error}")
    outputs = [name for name in (options.json, options.junitxml) if name not in (None, "-")]
    for name in outputs:
        if (
            Path(name) in options.pages
            or outputs.count(name) > 1
            or Path(name).suffix in _PAGES_ONLY
        ):
            parser.error(f"{name}: results are written to a file of their own, and not to a page")
    results = []
    with Reporter(options) as reporter:
        for result in _results(options):
            reporter.page(result)
            results.append(result)
        reporter.end(results)
    if any(result.failed for result in results):
        return 1
    is_empty = not any(result.checked or result.may_be_unchecked for result in results)
    return _NO_EXAMPLES if is_empty and not options.allow_empty else 0


def _with_pages(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, in which a page behind --changed is not its BASE."""
    pairs = zip(words, [*words[1:], ""], strict=False)
    return ["--changed=" if a == "--changed" and is_there(b) else a for a, b in pairs]


def _results(options: argparse.Namespace) -> Iterator[PageResult]:
    """Yield the results of pages, in their order, while others run.

    What still runs when nobody wants further results is stopped.
    """
    done = False
    with Starter() as starter, ThreadPoolExecutor(options.jobs or PROCESSORS) as pool:
        checker = Checker(starter, Compiler(), rules_of(options), options.update)
        try:
            for result in pool.map(checker.check, options.pages):
                yield result
                if options.fail_fast and result.failed:
                    return
            done = True
        finally:
            if not done:
                pool.shutdown(wait=False, cancel_futures=True)
                starter.stop()
