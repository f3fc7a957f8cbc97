"""What the completion of every language shares: the commands of the prompt, and texts in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable

from th_shell.completing.candidates import Candidate, Completions, file_candidate
from th_shell.completing.files import files
from th_shell.completing.system import shell, shell_files
from th_shell.session.commands import CommandTable

#: Completes code, by the text before the cursor, that behind it, and where in the first it begins.
CompleteCode = Callable[[str, str, int], Completions]


def complete_input(
    text: str, cursor: int, mark: re.Pattern[str], commands: CommandTable, code: CompleteCode
) -> Completions:
    """What may stand at the cursor (from 0) of an input, which is code or a command.

    mark: matches the blanks before a command, and its mark, which is the first group.
    """
    before, behind = text[:cursor], text[cursor:]
    found = mark.match(before)
    if found is None or "\n" in before.lstrip():
        return code(before, behind, 0)
    if found[1] in ("$", "!"):
        return shell(before, found.end())
    if found[1].startswith("?"):
        return code(before, behind, found.end())
    if found.end() == len(before):
        names = [one for one in commands.marks() if one.startswith(found[1]) and len(one) > 1]
        return Completions(found.start(1), [Candidate(name, "command") for name in names])
    if commands.takes_input(found[1]):
        return code(before, behind, found.end())
    return shell_files(before)  # what others take are files


def quoted_files(typed: str, quoted: Callable[[str], str], closing: str) -> list[Candidate]:
    """The files that fit a path in quotes. quoted: how a name stands there."""
    return [file_candidate(quoted(name), is_folder, closing) for name, is_folder in files(typed)]


def escaped(text: str, quote: str) -> str:
    """A text as it stands in a string between quotes, in Lua and in Python."""
    text = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")
