"""The command lines of ``th-docs``, ``th-docs fix`` and ``th-docs init``.

`command_lines.toml` beside this file has their words and options, and the text of their helps.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from th_shell.docs.reporting.report import write_text
from th_shell.docs.selection import common_root
from th_shell.docs.settings.options import OPTIONS, Option, configuration_of, literal
from th_shell.docs.settings.settings import Configuration
from th_shell.toml import loads
from th_shell.visible import visible_line

_SETTINGS = {f"--{option.name.replace('_', '-')}": option for option in OPTIONS}


class Parser(argparse.ArgumentParser):
    """A parser that names an unknown option rather than that no page follows it.

    It also says so when its help cannot be written; argparse says nothing.
    """

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options = super().parse_args(args, namespace)
        if not getattr(options, "words", True):
            self.error("the following arguments are required: PAGE")
        return options

    def error(self, message: str) -> NoReturn:
        super().error(visible_line(message))

    def print_help(self, file: object = None) -> None:
        write_text(self.format_help(), 1)


class _PrintVersions(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from th_shell.report import versions  # late: it takes a tenth of a start

        write_text("".join(versions(parser.prog)), 1)
        parser.exit()


def parser_of(command: str) -> Parser:
    """Return the parser of a command's words."""
    tables = loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    parser = Parser(command, **tables["commands"][command])
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for part in (table for table in tables["groups"] if command in table["of"]):
        title = part.get("title", "")
        group = groups.get(title) or parser.add_argument_group(title)
        groups[title] = group
        for names, arguments in part["options"].items():
            _add(group, names, arguments)
    return parser


def _add(group: argparse._ActionsContainer, names: str, arguments: dict[str, Any]) -> None:
    """Add a word or an option. A setting may be said several times."""
    setting = _SETTINGS.get(names)
    if setting and "action" not in arguments:
        arguments = {"action": "append", "type": "text", **arguments}
    if "type" in arguments:
        arguments["type"] = partial(_value, _READERS[arguments["type"]], setting)
    if arguments.get("action") == "version":
        arguments = {**arguments, "action": _PrintVersions, "nargs": 0}
    group.add_argument(*names.split(), **arguments)


def _value(read: Callable[[str], object], setting: Option | None, word: str) -> Any:
    """Return the value of a word of the command line. Raises ArgumentTypeError."""
    try:
        value = read(word)
        return setting.value(value, Path()) if setting else value
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(f"{word!r} is not a number from 1 up")
    return int(word)


def _existing(word: str) -> str:
    if not os.path.exists(word):
        raise ValueError(f"no such file or folder: {word}")
    return word


#: Readers of words by the types of `command_lines.toml`.
_READERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "number": literal,
    "count": _count,
    "existing": _existing,
}


def rules_of(options: argparse.Namespace) -> Configuration:
    """Return the rules of the command line, which stand over those of the pages' folders."""
    rules = Configuration()
    for option in OPTIONS:
        # The last value of an option stands over those before.
        for value in getattr(options, option.name, None) or ():
            rules = configuration_of({option.name: value}, "the command line").over(rules)
    return replace(rules, root=common_root(options.words)) if rules.errata else rules
