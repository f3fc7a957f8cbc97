"""What may stand in a command of the system: programs, files and folders."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from th_shell.completing.candidates import LIMIT, Candidate, Completions, file_candidate
from th_shell.completing.files import files, programs


def shell(before: str, first: int) -> Completions:
    """What fits the last word of a command, which begins at `first`."""
    word = re.search(r"[^\s;|&(]*$", before[first:])
    ahead = before[first : len(before) - len(word[0] if word else "")].strip()
    if word and not word[0].count("/") and (not ahead or ahead[-1] in ";|&("):
        found = [Candidate(name, "program") for name in programs(word[0])] if word[0] else []
        return Completions(len(before) - len(word[0]), found[:LIMIT], max(len(found) - LIMIT, 0))
    return shell_files(before, only_folders=ahead == "cd")


def shell_files(before: str, only_folders: bool = False) -> Completions:
    """The files that fit the last word of a command, quoted as its beginning is."""
    word = _last_word(before)
    quote = word[:1] if word[:1] in ("'", '"') else ""
    body = word[1:] if quote else word.rpartition("=")[2]
    typed = body if quote else re.sub(r"\\(.)", r"\1", body)
    found = [
        file_candidate(name if quote else _for_shell(name), is_folder, quote)
        for name, is_folder in files(typed, only_folders)
    ]
    return Completions(len(before) - len(body.rpartition("/")[2]), found)


def _last_word(before: str) -> str:
    """The word that a command ends with, with its quotes and backslashes."""
    words = list(_words(before))
    return words[-1] if words else ""


def _words(text: str) -> Iterator[str]:
    for match in re.finditer(r"(?:'[^']*'?|\"(?:\\.|[^\"\\])*\"?|\\.|[^\s'\"\\;|&<>()])+", text):
        if match.end() == len(text):
            yield match[0]


def _for_shell(name: str) -> str:
    return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", name) if shlex.quote(name) != name else name
