"""The command line behind ``th --python``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from th_shell.visible import UsageError

_TORCHES = ("th", "installed")
_CODE = ("-c", "-e")  # Python's letter, and that of th


class PythonOptions(NamedTuple):
    """A command line.

    kind: 'file', 'code', 'module' or 'input', which is the standard input; '' where nothing is
    named. program: the path, the code or the module's name. arguments: the words behind it.
    interactive: whether the prompt is opened behind the program. installed: whether `import torch`
    is left to the PyTorch that is installed.
    """

    kind: str = ""
    program: str = ""
    arguments: tuple[str, ...] = ()
    interactive: bool = False
    installed: bool = False


def parse(words: Sequence[str]) -> PythonOptions:
    """Read the words behind --python. Raises UsageError."""
    found = PythonOptions()
    at = 0
    while at < len(words):
        word = words[at]
        rest = tuple(words[at + 1 :])
        at += 1
        if word == "-":
            return found._replace(kind="input", arguments=rest)
        if not word.startswith("-"):
            return found._replace(kind="file", program=word, arguments=rest)
        if word in ("-i", "--interactive"):
            found = found._replace(interactive=True)
        elif word in (*_CODE, "-m"):
            kind = "module" if word == "-m" else "code"
            return found._replace(kind=kind, program=_behind(word, rest), arguments=rest[1:])
        elif word == "--torch":
            found = found._replace(installed=_torch(_behind(word, rest)) == "installed")
            at += 1
        else:
            raise UsageError(f"unrecognized option {word} of --python")
    return found


def _behind(word: str, rest: tuple[str, ...]) -> str:
    if not rest:
        raise UsageError(f"{word} needs {_NEEDS.get(word, 'code')}")
    return rest[0]


_NEEDS = {"-m": "the name of a module", "--torch": "a name: th or installed"}


def _torch(name: str) -> str:
    if name not in _TORCHES:
        raise UsageError(f"--torch {name}: there are th and installed")
    return name
