"""The parts of completion that all languages share: commands, files, texts in quotes."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import Token
from th_shell.session.commands import CommandTable
from th_shell.visible import escaped


@dataclass(frozen=True)
class Candidate:
    """A text that may stand at the cursor."""

    #: The text that is inserted.
    text: str
    #: 'function', 'number' and so on for names, 'local', 'keyword', 'module', 'command', 'file'
    #: or 'folder'.
    kind: str
    #: Returns how a function is called, or more on others than the kind; called when it is shown.
    describe: Callable[[], str] | None = field(default=None, compare=False)
    #: Returns a line of help on a function, and on others what their value is; called likewise.
    explain: Callable[[], str] = field(default=str, compare=False)
    #: Whether it is a variable of the program.
    is_own: bool = False

    @property
    def detail(self) -> str:
        """Return the text that is shown beside it."""
        return self.describe() if self.describe else self.kind


class Completions(NamedTuple):
    """The candidates for the text from `start` to the cursor."""

    start: int
    candidates: Sequence[Candidate] = ()
    #: So many others there are at least.
    more: int = 0


def file_candidate(name: str, is_folder: bool, ending: str = "") -> Candidate:
    """Return a file, or a folder."""
    return Candidate(f"{name}/", "folder") if is_folder else Candidate(name + ending, "file")


# -- what completes in strings and commands: names of files and of Lua's modules


def files(path: str) -> Iterator[tuple[str, bool]]:
    """Yield the names that begin as the last part of a path does, and whether each is a folder."""
    folder, prefix = os.path.split(os.path.expanduser(path) if path.startswith("~/") else path)
    for name, is_folder in _entries(folder or "."):
        hidden = name.startswith(".") and not prefix
        if name.startswith(prefix) and not hidden:
            yield name, is_folder


def modules(prefix: str, patterns: str) -> list[str]:
    """Return the modules that `require` can load and that begin with a text.

    A folder in which there may be more is listed with a dot behind it.
    """
    parent, _, last = prefix.rpartition(".")
    names = set()
    for pattern in patterns.split(";"):
        before, mark, behind = pattern.partition("?")
        if mark:
            folder = before + parent.replace(".", "/")
            for name in _modules_in(folder, "" if parent else before.rpartition("/")[2], behind):
                if name.startswith(last):
                    names.add(f"{parent}.{name}" if parent else name)
    return sorted(names)


def _modules_in(folder: str, start: str, behind: str) -> Iterator[str]:
    """Yield the modules in a folder whose files are start, name and behind: '', 'm' and '.lua'."""
    if start:
        folder = folder[: -len(start)]
    for name, is_folder in _entries(folder or "."):
        if name.startswith(".") or not name.startswith(start):
            continue
        if not is_folder:
            if name.endswith(behind) and len(name) > len(start + behind):
                yield name[len(start) : len(name) - len(behind)]
        elif os.path.isfile(os.path.join(folder, name) + behind):
            yield name[len(start) :]
        elif re.fullmatch(r"\w+", name) and _has_modules(os.path.join(folder, name)):
            yield f"{name[len(start) :]}."


def _has_modules(folder: str) -> bool:
    return any(name.endswith((".lua", ".so")) for name, _ in _entries(folder))


def _entries(folder: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, sorted, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return []


# -- files in a command of the system


def shell_files(before: str) -> Completions:
    """Return the files that fit the last word of a command, quoted as its beginning is."""
    word = _last_word(before)
    quote = word[:1] if word[:1] in ("'", '"') else ""
    body = word[1:] if quote else word.rpartition("=")[2]
    typed = body if quote else re.sub(r"\\(.)", r"\1", body)
    candidates = [
        file_candidate(name if quote else _for_shell(name), is_folder, quote)
        for name, is_folder in files(typed)
    ]
    return Completions(len(before) - len(body.rpartition("/")[2]), candidates)


def _last_word(before: str) -> str:
    """Return the word that a command ends with, with its quotes and backslashes."""
    words = re.finditer(r"(?:'[^']*'?|\"(?:\\.|[^\"\\])*\"?|\\.|[^\s'\"\\;|&<>()])+", before)
    return next((word[0] for word in words if word.end() == len(before)), "")


def _for_shell(name: str) -> str:
    return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", name)


# -- what the completion of every language shares: the commands of the prompt, and texts in quotes

#: Completes code, by the text before the cursor, that behind it, and where in the first it begins.
CompleteCode = Callable[[str, str, int], Completions]


#: The blanks before a command, and its mark.
_MARK = re.compile(r"\s*([$!]|\?+|%{1,2}\w*)")


def complete_input(
    text: str, cursor: int, commands: CommandTable, code: CompleteCode
) -> Completions:
    """Complete an input, which is code or a command, at the cursor (from 0)."""
    before, behind = text[:cursor], text[cursor:]
    mark = _MARK.match(before)
    if mark is None or "\n" in before.lstrip():
        return code(before, behind, 0)
    if mark[1] in ("$", "!"):
        return shell_files(before)
    if mark[1].startswith("?"):
        return code(before, behind, mark.end())
    if mark.end() == len(before):
        names = [
            name for name in sorted(commands.names()) if name.startswith(mark[1]) and len(name) > 1
        ]
        return Completions(mark.start(1), [Candidate(name, "command") for name in names])
    if commands.takes_input(mark[1]):
        return code(before, behind, mark.end())
    return shell_files(before)  # what others take are files


def quoted_files(string: Token, quote: str, closing: str, raw: bool) -> Completions:
    """Return the files that fit a path in quotes. raw: whether a backslash stands for itself."""
    content = string.content
    candidates = [
        file_candidate(name if raw else escaped(name, quote), is_folder, closing)
        for name, is_folder in files(content if raw else re.sub(r"\\(.)", r"\1", content))
    ]
    return Completions(string.end - len(content.rpartition("/")[2]), candidates)


# -- where the cursor is in code


_CLOSING = frozenset([")", "]", "}"])


class Place(NamedTuple):
    """The tokens before the cursor, and the beginning of a name or the open string behind them."""

    code: list[Token]
    prefix: str
    #: The beginning of the name, or of the text of the string.
    start: int
    string: Token | None = None


def place_of(all_tokens: Sequence[Token], end: int) -> Place | None:
    """Return the place at the end of a text with these tokens.

    It is None in a comment or a number, and right behind a string or a bracket that is closed.
    """
    code = [token for token in all_tokens if token.kind != "comment"]
    last = all_tokens[-1] if all_tokens else Token("sign", "", -1)
    if last.kind == "string" and last.is_open:
        return Place(code[:-1], last.content, end - len(last.content), last)
    if last.end == end and (last.kind == "string" or last.text in _CLOSING):
        return None  # of no name: an operator or a mark comes next
    if last.end != end or last.kind == "sign":
        return Place(code, "", end)
    return None if last.kind in ("comment", "number") else Place(code[:-1], last.text, last.start)


def in_order(candidates: Iterable[Candidate], prefix: str) -> list[Candidate]:
    """Return the candidates that begin with a text in alphabetic order, the program's own first."""
    fitting = [candidate for candidate in candidates if candidate.text.startswith(prefix)]
    return sorted(
        fitting,
        key=lambda candidate: (not candidate.is_own, candidate.text.lower(), candidate.text),
    )


def listed(start: int, candidates: Sequence[Candidate]) -> Completions:
    """Return the first candidates, and how many others there are."""
    return Completions(start, candidates[:MOST_NAMES], max(len(candidates) - MOST_NAMES, 0))
