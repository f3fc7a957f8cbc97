"""The command line of ``th``: parsing it, and the text of ``th --help``.

argparse is not used: importing it takes a tenth of the time in which ``th -e`` has to start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["USAGE", "Action", "Options", "UsageError", "parse"]

USAGE = """\
Usage: th [options] [script.lua [arguments]]

Options:
  -e statement       run a statement
  -l name            load a library (also -lname)
  -i, --interactive  open the prompt after statements and script
  --trust-functions  load functions from .t7 files: their bytecode can do anything
  --jupyter install  let Jupyter run notebooks with th (--user, --sys-prefix, --prefix FOLDER)
  --jupyter remove   undo that
  -h, --help         print this help
  -                  run the standard input as a script

Without statement and script: the prompt; the standard input where that is not a terminal.
"""


class UsageError(Exception):
    """A command line that th does not understand; the message says why."""


class Action(NamedTuple):
    """An option -e or -l. kind: 'statement' or 'library'. text: the statement or the name."""

    kind: str
    text: str


class Options(NamedTuple):
    """A command line.

    actions: the options -e and -l in their order. interactive: whether the prompt is opened after
    these and the script. script: a path, '-' for the standard input, or None. arguments: the words
    behind the script, or all words if there is none. trust: whether functions in files are loaded.
    jupyter: the words behind --jupyter.
    """

    actions: tuple[Action, ...] = ()
    interactive: bool = False
    help: bool = False
    script: str | None = None
    arguments: tuple[str, ...] = ()
    trust: bool = False
    jupyter: tuple[str, ...] | None = None


_KINDS = {"-e": "statement", "-l": "library"}


def parse(words: Sequence[str]) -> Options:
    """Read a command line (without the program's name). Raises UsageError."""
    actions: list[Action] = []
    interactive = trust = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "-" or not word.startswith("-"):
            return Options(tuple(actions), interactive, False, word, tuple(words[at:]), trust)
        if word in ("-h", "--help"):
            return Options(help=True)
        if word in ("-i", "--interactive"):
            interactive = True
        elif word == "--trust-functions":
            trust = True
        elif word == "--jupyter":
            return Options(jupyter=tuple(words[at:]))
        elif word in _KINDS:
            if at == len(words):
                raise UsageError(f"{word} needs a {'statement' if word == '-e' else 'name'}")
            actions.append(Action(_KINDS[word], words[at]))
            at += 1
        elif word.startswith("-l"):
            actions.append(Action("library", word[2:]))
        else:
            raise UsageError(f"unrecognized option {word}")
    return Options(tuple(actions), interactive, False, None, tuple(words), trust)
