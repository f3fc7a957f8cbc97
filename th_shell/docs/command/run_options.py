"""The options of ``th-docs`` that say how pages are run and judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable
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


def add_options(parser: Parser) -> argparse._ArgumentGroup:
    """Add the options; the group of those that say how pages are judged, for further ones."""
    for title, options in (("how pages are run", RUNNING), ("how pages are judged", JUDGING)):
        group = parser.add_argument_group(title)
        for option in options:
            _add(group, option)
    return group


def _add(group: argparse._ArgumentGroup, option: Option) -> None:
    name = f"--{option.name.replace('_', '-')}"
    if option.read is flag:
        group.add_argument(name, action="append_const", const=True, help=option.help)
    else:
        read = _reader(option)
        group.add_argument(
            name, type=read, action="append", metavar=option.metavar, help=option.help
        )


def said_by(options: argparse.Namespace) -> Configuration:
    """What the command line says of all pages, over the files of their folders."""
    said = Configuration()
    for option in (*RUNNING, *JUDGING):
        for one in getattr(options, option.name) or ():  # the last one stands over the others
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
