"""The pages of a command line, and how they are run: which, how many at a time, until when."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runtime import PROCESSORS
from th_shell.docs.command.selection import Shard, find_pages, pages_of_shard
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.running.processes import Starter


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
        "-j",
        "--jobs",
        type=_positive,
        default=PROCESSORS,
        metavar="N",
        help="how many pages are run at a time (default: as many as there are processors)",
    )
    group.add_argument(
        "--shard",
        type=_shard,
        metavar="K/N",
        help="run only the pages of part K of N, which together have all pages",
    )
    group.add_argument(
        "-x", "--fail-fast", action="store_true", help="stop behind the first page that fails"
    )
    group.add_argument(
        "--watch", action="store_true", help="run pages again when they change, until Ctrl-C"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def _shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def chosen_pages(options: argparse.Namespace) -> list[Path]:
    """The pages that the options choose. Raises NoPagesError: see `find_pages`."""
    pages = find_pages(options.words)
    return pages_of_shard(pages, options.shard) if options.shard else pages


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
