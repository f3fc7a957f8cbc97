"""The command line of ``th``: parsing it, and the text of ``th --help``.

argparse is not used: importing it takes a tenth of the time in which ``th -e`` has to start.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from th_shell.visible import UsageError


def usage() -> str:
    """Return the text of ``th --help``."""
    with open(os.path.join(os.path.dirname(__file__), "usage.txt"), encoding="utf-8") as file:
        return file.read()


class Action(NamedTuple):
    """An option -e or -l."""

    #: 'statement' or 'library'.
    kind: str
    #: The statement or the name.
    text: str


class Options(NamedTuple):
    """A command line."""

    #: The options -e and -l in their order.
    actions: tuple[Action, ...] = ()
    #: Whether the prompt is opened after these and the script.
    interactive: bool = False
    #: 'help', 'version' or 'config' where th only prints that.
    prints: str = ""
    #: A path, '-' for the standard input, or None.
    script: str | None = None
    #: The words behind the script, or all words if there is none.
    arguments: tuple[str, ...] = ()
    #: Whether functions in files are loaded.
    trust: bool = False
    #: Whether the processor stands for GPUs.
    gpu_as_cpu: bool = False
    #: The answer to a global that is made, or is not there: '' nothing, 'warn' or 'error'.
    monitor: str = ""
    #: The option that does something else, 'check' for --check, or ''.
    program: str = ""
    #: The words behind that option.
    words: tuple[str, ...] = ()


_PROGRAMS = frozenset(
    "--check --convert --dap --install --jupyter --list --lsp --python --remove --report".split()
)
_WITH_WORD = {"-e": "statement", "-l": "library"}
_PRINTING = {
    "-h": "help",
    "--help": "help",
    "-v": "version",
    "--version": "version",
    "--config": "config",
}
_FLAGS: dict[str, dict[str, bool | str]] = {
    "-i": {"interactive": True},
    "--interactive": {"interactive": True},
    "--trust-functions": {"trust": True},
    "--gpu-as-cpu": {"gpu_as_cpu": True},
    "-g": {"monitor": "warn"},
    "--globals": {"monitor": "warn"},
    "-gg": {"monitor": "error"},
    "--gglobals": {"monitor": "error"},
}


def parse(words: Sequence[str]) -> Options:
    """Read a command line (without the program's name). Raises UsageError."""
    options = Options(arguments=tuple(words))
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "-" or not word.startswith("-"):
            return options._replace(script=word, arguments=tuple(words[at:]))
        if word in _PRINTING:
            return Options(prints=_PRINTING[word])
        if word == "--python":
            if at > 1:
                raise UsageError("--python comes first: what stands behind it is for Python")
            if words[at:] and words[at] in _PRINTING:
                return Options(prints=_PRINTING[words[at]])
        if word in _PROGRAMS:
            return Options(program=word[2:], words=tuple(words[at:]))
        if word in _FLAGS:
            options = options._replace(**_FLAGS[word])  # type: ignore[arg-type]
        elif word in _WITH_WORD:
            if at == len(words):
                raise UsageError(f"{word} needs a {'statement' if word == '-e' else 'name'}")
            options = _and(options, _WITH_WORD[word], words[at])
            at += 1
        elif word.startswith("-l"):
            options = _and(options, "library", word[2:])
        else:
            raise UsageError(f"unrecognized option {word}")
    return options


def _and(options: Options, kind: str, text: str) -> Options:
    return options._replace(actions=(*options.actions, Action(kind, text)))
