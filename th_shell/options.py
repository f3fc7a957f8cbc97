"""The command line of ``th``: what its words ask for, and the text of ``th --help``.

Owns no behaviour: `cli` does what `parse` found. Written by hand because loading argparse
would cost a tenth of the time that ``th -e`` may take to start.
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
  -h, --help         print this help
  -                  run the standard input as a script

Without statement and script: the prompt; the standard input where that is not a terminal.
"""


class UsageError(Exception):
    """A command line that th does not understand; the message says why."""


class Action(NamedTuple):
    """Something to do before the script. kind: 'statement' or 'library'."""

    kind: str
    text: str


class Options(NamedTuple):
    """A command line.

    actions: statements and libraries in their order. script: a path, '-' for the standard
    input, or None. arguments: the words behind the script; all words where there is none.
    trust: whether functions in files are loaded.
    """

    actions: tuple[Action, ...] = ()
    interactive: bool = False
    help: bool = False
    script: str | None = None
    arguments: tuple[str, ...] = ()
    trust: bool = False


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
