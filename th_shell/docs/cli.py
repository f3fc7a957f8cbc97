"""The command ``th-docs``: runs pages and reports the results.

The exit status is

- 0 if nothing fails;
- 1 if an example or a page fails;
- 2 for a wrong command line, or if the results cannot be written;
- 5 if there are no examples, without ``--allow-empty``;
- 130 after Ctrl-C;
- 141 if what reads the report has closed its pipe, as ``head`` does; then pages may not have run.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from runtime import PROCESSORS
from th_shell.docs.judging.pages import Options, check_page
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.blocks import PageError
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.languages import LUA, PYTHON, language_of
from th_shell.docs.reading.page import read
from th_shell.docs.reporting.options import add_report_options, report_options
from th_shell.docs.reporting.progress import Progress
from th_shell.docs.reporting.reporter import (
    CannotWriteError,
    ReaderGoneError,
    Reporter,
    write_text,
)
from th_shell.docs.running import sandbox
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, Starter, lua_engine, python_engine

__all__ = ["main"]

_WRONG_USAGE = 2
_PROTOCOL = "protocol:"  # before a command that is an engine by itself
_NO_EXAMPLES = 5  # as pytest without tests
_INTERRUPTED = 130
_READER_GONE = 141  # as the shell says of what SIGPIPE has ended

_STATUS = (
    "The exit status is 0 if nothing fails, 1 if an example or a page fails, 2 for a wrong command "
    "line or if the results cannot be written, 5 if there are no examples, 130 after Ctrl-C, 141 "
    "if what reads the report has closed its pipe."
)


class _Command(NamedTuple):
    """What `--engine` names."""

    language: str
    words: list[str]
    speaks_protocol: bool


#: A function that runs a page.
_Job = Callable[[], PageResult]


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
    parser.add_argument(
        "pages", nargs="+", type=Path, metavar="PAGE", help="Markdown, text or .ipynb"
    )
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
        type=_command,
        action="append",
        default=[],
        metavar="COMMAND",
        help="what runs the examples instead of th: a command that runs a Lua script; or, behind "
        f"'{_PROTOCOL} ', one that speaks the protocol of th_shell/docs/running/protocol.py; "
        "behind 'python: ', what runs the examples in Python (default: the Python of th-docs)",
    )
    parser.add_argument(
        "--prelude",
        type=_prelude,
        action="append",
        default=[],
        metavar="FILE",
        help="run the code in FILE before each page; before examples in Python if it is FILE.py",
    )
    parser.add_argument(
        "--memory",
        type=_megabytes,
        default=4 << 30,
        metavar="MB",
        help="the memory that a page may take, in megabytes; 0: no limit (default: 4096)",
    )
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="let a page read and write its own folder alone, start no process, and reach no "
        "network",
    )
    parser.add_argument(
        "--sandbox-read",
        action="append",
        type=_path,
        default=[],
        metavar="PATH",
        help="let pages in the sandbox read this file or folder, too (may be repeated)",
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
    add_report_options(parser)
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError("not a positive number of seconds")
    return seconds


def _megabytes(text: str) -> int:
    return int(text) << 20


def _command(text: str) -> _Command:
    words = shlex.split(text)
    language = LUA
    if words and words[0].endswith(":") and words[0] != _PROTOCOL:
        name = words.pop(0)[:-1]
        language = language_of(name, ())
        if not language:
            raise argparse.ArgumentTypeError(f"{name}: neither {LUA} nor {PYTHON}")
    speaks = words[:1] == [_PROTOCOL]
    words = words[speaks:]
    if not words:
        raise argparse.ArgumentTypeError("no command")
    return _Command(language, words, speaks)


def _prelude(name: str) -> tuple[str, str]:
    """The language and the text of a file with code."""
    try:
        text = Path(name).read_text("utf-8", "surrogateescape")
        return PYTHON if name.endswith(".py") else LUA, text
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error.strerror}") from None


def _path(text: str) -> str:
    if not os.path.exists(text):
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return text


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no such folder: {text}")
    return Path(text)


def _check(options: argparse.Namespace, progress: Progress) -> Iterator[PageResult]:
    # Each page runs in two processes. The results come in the order of the command line.
    compiler = Compiler()
    with Starter() as starter, ThreadPoolExecutor(max(1, PROCESSORS // 2)) as pool:
        runner = _runner(starter, options)
        jobs = [(page, _job(page, options, compiler, runner)) for page in options.pages]

        def run(job: tuple[Path, _Job]) -> PageResult:
            progress.begin(str(job[0]))
            return job[1]()

        try:
            yield from pool.map(run, jobs)
        except (KeyboardInterrupt, GeneratorExit):  # GeneratorExit: an error ended the report
            pool.shutdown(wait=False, cancel_futures=True)
            starter.stop()
            raise


def _runner(starter: Starter, options: argparse.Namespace) -> Runner:
    engines = _engines(options)
    preludes: dict[str, str] = dict(options.prelude)
    return Runner(
        starter,
        engines[LUA],
        options.timeout,
        preludes.get(LUA, ""),
        engines[PYTHON],
        preludes.get(PYTHON, ""),
    )


def _engines(options: argparse.Namespace) -> dict[str, Engine]:
    """The engines by their languages."""
    memory: int = options.memory
    found = {LUA: Engine(memory=memory), PYTHON: python_engine(memory=memory)}
    adapt = {LUA: lua_engine, PYTHON: python_engine}
    for language, words, speaks_protocol in options.engine:
        make = Engine if speaks_protocol else adapt[language]
        found[language] = make(words, memory=memory)
    return {
        language: replace(engine, sandboxed=options.sandbox, read=options.sandbox_read)
        for language, engine in found.items()
    }


def _job(page: Path, options: argparse.Namespace, compiler: Compiler, runner: Runner) -> _Job:
    try:
        content = read(page, compiler)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        return lambda: PageResult(page, [], problem)
    except PageError as error:
        what = str(error)
        return lambda: PageResult(page, [], what)
    judged = Options(options.errata, options.strict, options.update)
    return lambda: check_page(page, content, runner, judged)
