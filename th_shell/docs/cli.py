"""The command ``th-docs``: runs pages and reports the results.

The exit status is 0 if nothing fails, 1 if an example or a page fails, 2 for a wrong command line
or if the results cannot be written, 5 if there are no examples, and 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from runtime import PROCESSORS, Replacement
from th_shell.docs.judging.pages import Options, check_page, read_examples
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reporting.files import write_all
from th_shell.docs.reporting.report import as_json, page_lines, total_line
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, Starter, lua_engine
from th_shell.visible import visible

__all__ = ["main"]

_WRONG_USAGE = 2
_PROTOCOL = "protocol:"  # before a command that is an engine by itself
_NO_EXAMPLES = 5  # as pytest without tests
_INTERRUPTED = 130

#: A function that runs a page.
_Job = Callable[[], PageResult]


def main(argv: Sequence[str] | None = None) -> int:
    """Run th-docs; returns the exit status."""
    parser = _parser()
    try:
        options = _parsed(parser, argv)
        # The file is opened first: running the pages may take long, in vain if it cannot be.
        file = _open_results(options.json, parser) if options.json else None
        return _run(options, file)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _CannotWriteError as error:
        with suppress(OSError):
            print(f"th-docs: {error}", file=sys.stderr)
        return _WRONG_USAGE


def _run(options: argparse.Namespace, file: Replacement | None) -> int:
    try:
        results = list(_reported(options))
        if len(results) > 1:
            _say(total_line(results))
        if file:
            _write(file, json.dumps(as_json(results), indent=1) + "\n", options.json)
    finally:
        if file:
            file.abandon()
            os.close(file.descriptor)
    if any(result.failed for result in results):
        return 1
    is_empty = not any(result.results for result in results)
    return _NO_EXAMPLES if is_empty and not options.allow_empty else 0


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    try:
        try:
            return parser.parse_args(argv)
        finally:
            print(end="", flush=True)  # the help, which Python 3.10 may have written already
    except OSError as error:
        # At its end, Python would try to write again, and print a message of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise _CannotWriteError(f"write error: {error.strerror}") from None


def _reported(options: argparse.Namespace) -> Iterator[PageResult]:
    for result in _check(options):
        for line in page_lines(result, options.verbose):
            _say(line)
        yield result


class _CannotWriteError(Exception):
    """The results cannot be written; the message says why."""


def _say(line: str) -> None:
    # Bytes of a page that are no UTF-8 are printed as they are in the page.
    text = visible(line) if os.isatty(1) else line
    try:
        write_all(1, f"{text}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise _CannotWriteError(f"write error: {error.strerror}") from None


def _write(file: Replacement, text: str, name: str) -> None:
    try:
        write_all(file.descriptor, text.encode())
        file.commit()
    except OSError as error:
        raise _CannotWriteError(f"{name} cannot be written: {error.strerror}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="th-docs", description="Run the examples of documentation pages and compare."
    )
    parser.add_argument(
        "pages", nargs="+", type=Path, metavar="PAGE", help="Markdown, rst, HTML, Lua, text"
    )
    parser.add_argument("--json", metavar="FILE", help="write all results to FILE")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="the time that an example may take (default: 30)",
    )
    parser.add_argument(
        "--errata",
        type=_folder,
        metavar="FOLDER",
        help="the folder of the ledgers, PAGE.errata (default: beside each page)",
    )
    parser.add_argument(
        "--engine",
        type=_words,
        default=[],
        metavar="COMMAND",
        help="what runs the examples instead of th: a command that runs a Lua script; or, behind "
        f"'{_PROTOCOL} ', one that speaks the protocol of th_shell/docs/running/protocol.py",
    )
    parser.add_argument(
        "--prelude",
        type=_text,
        metavar="FILE",
        help="run the code in FILE before each page",
    )
    parser.add_argument(
        "--memory",
        type=_megabytes,
        default=4 << 30,
        metavar="MB",
        help="the memory that a page may take, in megabytes; 0: no limit (default: 4096)",
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="do not fail if there are no examples at all"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail where a prompt prints something and the page documents nothing",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="write what the examples in ledgers print into the ledgers, where it is checked",
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


def _megabytes(text: str) -> int:
    return int(text) << 20


def _words(text: str) -> list[str]:
    words = shlex.split(text)
    if not words:
        raise argparse.ArgumentTypeError("no command")
    return words


def _text(name: str) -> str:
    try:
        return Path(name).read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error.strerror}") from None


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no such folder: {text}")
    return Path(text)


def _open_results(name: str, parser: argparse.ArgumentParser) -> Replacement:
    try:
        return Replacement(os.fsencode(name))
    except OSError as error:
        parser.error(f"argument --json: cannot be written: {error.strerror}")


def _check(options: argparse.Namespace) -> Iterator[PageResult]:
    # Each page runs in two processes. The results come in the order of the command line.
    compiler = Compiler()
    with Starter() as starter, ThreadPoolExecutor(max(1, PROCESSORS // 2)) as pool:
        runner = Runner(starter, _engine(options), options.timeout, options.prelude or "")
        jobs = [_job(page, options, compiler, runner) for page in options.pages]
        try:
            yield from pool.map(lambda job: job(), jobs)
        except (KeyboardInterrupt, GeneratorExit):  # GeneratorExit: an error ended the report
            pool.shutdown(wait=False, cancel_futures=True)
            starter.stop()
            raise


def _engine(options: argparse.Namespace) -> Engine:
    command: list[str] = options.engine
    if not command:
        return Engine(memory=options.memory)
    if command[0] == _PROTOCOL:
        return Engine(command[1:], memory=options.memory)
    return lua_engine(command, options.memory)


def _job(page: Path, options: argparse.Namespace, compiler: Compiler, runner: Runner) -> _Job:
    try:
        examples = read_examples(page, compiler)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        return lambda: PageResult(page, [], problem)
    judged = Options(options.errata, options.strict, options.update)
    return lambda: check_page(page, examples, runner, compiler, judged)
