"""The options of ``th-docs`` that say how pages are run and judged."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.settings.configuration import (
    PROTOCOL,
    TORCHES,
    Configuration,
    engine_command,
    existing_folder,
    language_name,
    prelude,
    search_path,
)
from th_shell.docs.settings.settings import Layer, Settings
from th_shell.visible import visible_line

_T = TypeVar("_T")


class Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be written; argparse says nothing."""

    def error(self, message: str) -> NoReturn:
        super().error(visible_line(message))

    def print_help(self, file: object = None) -> None:
        write_text(self.format_help(), 1)


def add_running_options(parser: Parser) -> None:
    """Add the options that say how pages are run."""
    group = parser.add_argument_group("how pages are run")
    group.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="the time that an example may take (default: 30)",
    )
    group.add_argument(
        "--memory",
        type=_megabytes,
        metavar="MB",
        help="the memory that a page may take, in megabytes; 0: no limit (default: 4096)",
    )
    group.add_argument(
        "--engine",
        type=_reader(engine_command),
        action="append",
        default=[],
        metavar="COMMAND",
        help="what runs the examples instead of th: a command that runs a Lua script; or, behind "
        f"'{PROTOCOL} ', one that speaks the protocol of th_shell/docs/README.md; "
        "behind 'python: ', what runs the examples in Python (default: the Python of th-docs)",
    )
    group.add_argument(
        "--language",
        type=_reader(language_name),
        metavar="LANGUAGE",
        help="the language of blocks that neither name theirs nor have a prompt (default: lua)",
    )
    group.add_argument(
        "--torch",
        choices=TORCHES,
        help="what `import torch` is in Python without --engine: this project's torch (the "
        "default), or what is installed",
    )
    group.add_argument(
        "--prelude",
        type=_reader(lambda name: prelude(Path(name))),
        action="append",
        default=[],
        metavar="FILE",
        help="run the code in FILE before each page; before examples in Python if it is FILE.py",
    )
    group.add_argument(
        "--lua-path",
        type=_search_path,
        metavar="PATH",
        help="where modules are searched first, as in LUA_PATH: 'lib/?.lua'",
    )
    group.add_argument(
        "--lua-cpath",
        type=_search_path,
        metavar="PATH",
        help="the same for modules that are C libraries",
    )
    group.add_argument(
        "--sandbox",
        action="store_true",
        default=None,
        help="let pages read and write their own folders alone, start no process, reach no network",
    )
    group.add_argument(
        "--sandbox-read",
        type=_path,
        action="append",
        default=[],
        metavar="PATH",
        help="let pages in the sandbox read this file or folder, too",
    )


def add_judging_options(parser: Parser) -> argparse._ArgumentGroup:
    """Add the options that say how pages are judged; their group, for those of one command."""
    group = parser.add_argument_group("how pages are judged")
    group.add_argument(
        "--atol",
        type=_tolerance,
        metavar="NUMBER",
        help="how far a printed number may be from the documented one",
    )
    group.add_argument(
        "--rtol",
        type=_tolerance,
        metavar="NUMBER",
        help="the same as a part of the documented number; with both, their sum",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="fail where a prompt prints something and the page documents nothing",
    )
    group.add_argument(
        "--errata",
        type=_reader(lambda name: existing_folder(Path(name))),
        metavar="FOLDER",
        help="the folder of the ledgers, PAGE.errata, and of the baselines, PAGE.verdicts "
        "(default: beside each page)",
    )
    return group


def said_by(options: argparse.Namespace) -> Configuration:
    """What the command line says of all pages, over the files of their folders."""
    return Configuration(
        Layer(
            Settings(
                atol=options.atol,
                rtol=options.rtol,
                timeout=options.timeout,
                strict=options.strict,
            )
        ),
        engines={command.language: command for command in options.engine},
        preludes=dict(options.prelude),
        lua_path=options.lua_path,
        lua_cpath=options.lua_cpath,
        memory=options.memory,
        errata=options.errata,
        sandbox=options.sandbox,
        sandbox_read=options.sandbox_read,
        language=options.language,
        torch=options.torch,
    )


def _reader(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """A reader of an option from one that raises ValueError with what is wrong."""

    def convert(text: str) -> _T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _search_path(text: str) -> str:
    return search_path(Path.cwd(), text)


def _tolerance(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("not a number from 0 up")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError("not a positive number of seconds")
    return seconds


def _megabytes(text: str) -> int:
    size = int(text)
    if size < 0:
        raise argparse.ArgumentTypeError("not a number of megabytes")
    return size << 20


def _path(text: str) -> str:
    if not os.path.exists(text):
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return text
