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
  --check path...    read programs (with --json, for other programs), and say what they need that
                     is not here; they are not run
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
    check: the files and folders of --check, or None; json: whether it answers in JSON.
    """

    actions: tuple[Action, ...] = ()
    interactive: bool = False
    help: bool = False
    script: str | None = None
    arguments: tuple[str, ...] = ()
    trust: bool = False
    check: tuple[str, ...] | None = None
    json: bool = False


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
        if word == "--check":
            return _check(words[at:])
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


def _check(words: Sequence[str]) -> Options:
    paths = tuple(word for word in words if not word.startswith("--"))
    for word in words:
        if word.startswith("--") and word != "--json":
            raise UsageError(f"unrecognized option {word} of --check")
    if not paths:
        raise UsageError("--check needs files or folders")
    return Options(check=paths, json="--json" in words)
