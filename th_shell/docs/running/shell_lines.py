"""Reads lines of the system's shell on a page, and decides which of them are run.

Lines that create or show files are run, without a shell: their words are split at blanks, with
quotes, and not expanded. A line that needs a shell for more than `> file` at its end is not run,
nor one that names a path outside of the page's folder, or that changes anything else (installers).
Lines that start a Lua session are not run, either: the inputs behind them run as inputs of the
page.
"""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from th_shell.patterns import pattern

#: The commands that are run; True for those whose words name files.
_COMMANDS = {"echo": False, "printf": False} | dict.fromkeys(
    ("cat", "head", "ls", "mkdir", "tail", "touch", "wc"), True
)
_OPTION = pattern(r"-\w*")
_SESSIONS = frozenset(("lua", "luajit", "qlua", "th"))
#: A word that a shell reads as shlex does: nothing in it is expanded.
_WORD = r"""(?:[^\s'"$`\\|&;<>(){}\[\]*?~#]|'[^']*'|"(?:[^"$`\\]|\\["\\\w])*")+"""
#: A digit before `>` is the number of another file of the process.
_LINE = pattern(
    rf"\s*(?P<words>{_WORD}(?:[ \t]+{_WORD})*)"
    rf"(?:[ \t]*(?<!\d)(?P<mark>>>?)[ \t]*(?P<to>{_WORD}))?\s*"
)


class ShellLine(NamedTuple):
    """A command of a shell line."""

    #: The command and its arguments.
    words: Sequence[str]
    #: The file that gets the output, or ''.
    output: str = ""
    #: The output is added to the file.
    appends: bool = False


def parse_shell_line(line: str) -> ShellLine:
    """Return the command of a shell line. Raises ValueError, which says why it is not run."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"not a shell line: {error}") from None
    if words and words[0] in _SESSIONS:
        raise ValueError("starts a session: the lines after it run as the page's")
    match = _LINE.fullmatch(line)
    if not match or words[0] not in _COMMANDS or "\0" in line:
        raise ValueError("not a shell line that this tool runs")
    words, output = shlex.split(match["words"]), "".join(shlex.split(match["to"] or ""))
    if _leads_out(output) or _COMMANDS[words[0]] and any(map(_leads_out, words[1:])):
        raise ValueError("not run: it names a path outside the page's folder")
    return ShellLine(words, output, match["mark"] == ">>")


def _leads_out(word: str) -> bool:
    """Tell whether a word may name a file outside of the page's folder."""
    if word.startswith("-"):
        return not _OPTION.fullmatch(word)
    return word.startswith("/") or ".." in word.split("/")
