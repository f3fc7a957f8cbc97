"""The options of ``th-docs`` that say how pages are run and judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.settings.configuration import Configuration, said_in
from th_shell.docs.settings.options import JUDGING, RUNNING, Option
from th_shell.docs.settings.setting_readers import flag
from th_shell.visible import visible_line


class Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be written; argparse says nothing."""

    def error(self, message: str) -> NoReturn:
        super().error(visible_line(message))

    def print_help(self, file: object = None) -> None:
        write_text(self.format_help(), 1)


def add_running_options(parser: Parser) -> None:
    """Add the options that say how pages are run."""
    _add(parser.add_argument_group("how pages are run"), RUNNING)


def add_judging_options(parser: Parser) -> argparse._ArgumentGroup:
    """Add the options that say how pages are judged; their group, for those of one command."""
    group = parser.add_argument_group("how pages are judged")
    _add(group, JUDGING)
    return group


def _add(group: argparse._ArgumentGroup, options: Iterable[Option]) -> None:
    for option in options:
        name = f"--{option.name.replace('_', '-')}"
        if option.read is flag:
            group.add_argument(name, action="store_const", const=True, help=option.help)
        elif option.choices:
            group.add_argument(name, choices=option.choices, help=option.help)
        else:
            group.add_argument(
                name,
                type=_reader(option),
                action="append" if option.many else "store",
                metavar=option.metavar,
                help=option.help,
            )


def said_by(options: argparse.Namespace) -> Configuration:
    """What the command line says of all pages, over the files of their folders."""
    said = Configuration()
    for option in (*RUNNING, *JUDGING):
        value = getattr(options, option.name)
        for one in (value or ()) if option.many else () if value is None else (value,):
            said = said_in({option.name: one}, "the command line").over(said)
    return said


def _reader(option: Option) -> Callable[[str], Any]:
    """What reads a word of the command line."""

    def read(word: str) -> Any:
        try:
            return option.value(option.word(word), Path())
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
