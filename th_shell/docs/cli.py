"""The command ``th-docs``: its options, the pages it runs, its exit status.

0 where nothing fails, 1 where an example or a page does, 2 for a wrong command line, 130 after
Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from th_shell.docs.evaluation import stop
from th_shell.docs.report import as_json, page_lines, total_line
from th_shell.docs.syntax import Syntax
from th_shell.docs.verdicts import PageResult, check_page, read_examples

__all__ = ["main"]

#: What runs a page.
_Job = Callable[[], PageResult]


def main(argv: Sequence[str] | None = None) -> int:
    """Run th-docs; the exit status."""
    # A page's bytes that are no text come out as they went in.
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    options = _parser().parse_args(argv)
    try:
        results = list(_reported(options))
    except KeyboardInterrupt:
        return 130
    if len(results) > 1:
        print(total_line(results))
    if options.json:
        json.dump(as_json(results), options.json, indent=1)
        options.json.write("\n")
        options.json.close()
    return 1 if any(result.failed for result in results) else 0


def _reported(options: argparse.Namespace) -> Iterator[PageResult]:
    for result in _check(options):
        for line in page_lines(result, options.verbose):
            print(line, flush=True)
        yield result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="th-docs", description="Run the examples of documentation pages and compare."
    )
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE", help="Markdown or text")
    parser.add_argument("--json", type=_written, metavar="FILE", help="write all results to FILE")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="the limit of each of the two runs of a page (default: 60)",
    )
    parser.add_argument(
        "--errata",
        type=_folder,
        metavar="FOLDER",
        help="the folder of the ledgers, PAGE.errata (default: beside each page)",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line for every example, too"
    )
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError("not a positive number of seconds")
    return seconds


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no such folder: {text}")
    return Path(text)


def _written(text: str) -> TextIO:
    # Opened before anything runs: a page may take long.
    try:
        return open(text, "w")
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot be written: {error.strerror}") from None


def _check(options: argparse.Namespace) -> Iterator[PageResult]:
    # Each page is two processes; its results come in the order of the command line.
    syntax = Syntax()
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
        try:
            yield from pool.map(
                lambda job: job(), [_job(p, options, syntax) for p in options.pages]
            )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise


def _job(page: Path, options: argparse.Namespace, syntax: Syntax) -> _Job:
    try:
        examples = read_examples(page, syntax)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        return lambda: PageResult(page, [], problem)
    return lambda: check_page(page, examples, options.timeout, options.errata)
