"""Completion with Tab: names after a path, keywords, and file names in strings.

This module finds out from the text before the cursor which names are wanted. The engine lists
them without running any code of the program (metamethods).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

__all__ = ["KEYWORDS", "LuaCompleter", "Names", "NameContext", "file_context", "name_context"]

#: The names that may follow a dotted path ('' for the globals), with their Lua types.
Names = Callable[[str], Mapping[str, str]]

KEYWORDS = tuple(
    "and break do else elseif end false for function goto if in local nil not or repeat "
    "return then true until while".split()
)

_NAME = r"[A-Za-z_]\w*"
_WANTED = re.compile(rf"(?:({_NAME}(?:\.{_NAME})*)([.:]))?((?:{_NAME})?)$", re.ASCII)
_QUOTED = re.compile(r"--.*|(['\"])((?:\\.|(?!\1).)*)(\1?)")


class NameContext(NamedTuple):
    """A name that is being typed.

    path, separator: the path before it and '.' or ':', or ''. prefix: its part before the cursor.
    """

    path: str
    separator: str
    prefix: str


def name_context(line: str) -> NameContext | None:
    """The name that a line ends with; None behind a call, an index or a number."""
    wanted = _WANTED.search(line)
    if wanted is None:
        return None
    before = line[: wanted.start()].rstrip()
    if before.endswith((".", ":")) and not before.endswith(".."):
        return None
    if wanted.start() and re.match(r"\w", line[wanted.start() - 1]):
        return None
    return NameContext(wanted[1] or "", wanted[2] or "", wanted[3])


def file_context(line: str) -> str | None:
    """The text of the string that a line ends in; None where it does not end in a string."""
    for token in _QUOTED.finditer(line):
        if token.end() == len(line) and token[1] and not token[3]:
            return token[2]
    return None


def _is_in_comment(line: str) -> bool:
    tokens = [token for token in _QUOTED.finditer(line) if token.end() == len(line)]
    return bool(tokens) and not tokens[-1][1]


class LuaCompleter(Completer):
    """Completes the name or file name before the cursor."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The names that fit the text before the cursor, in alphabetic order."""
        line = document.current_line_before_cursor
        if document.text.lstrip().startswith("$"):
            return _files(re.split(r"[\s'\"=$]", line)[-1])
        opened = file_context(line)
        if opened is not None:
            return _files(opened)
        context = None if _is_in_comment(line) else name_context(line)
        return [] if context is None else self._fitting(context)

    def _fitting(self, context: NameContext) -> Iterator[Completion]:
        found = dict(self._names(context.path))
        if not context.path:
            found.update(dict.fromkeys(KEYWORDS, "keyword"))
        for name, kind in sorted(found.items(), key=lambda item: (item[0].lower(), item[0])):
            if not name.startswith(context.prefix):
                continue
            if context.separator == ":" and kind != "function":
                continue
            # Metamethods and other names with an underscore are listed only when one is typed.
            if name.startswith("_") and context.path and not context.prefix:
                continue
            yield Completion(name, -len(context.prefix), display_meta=kind)


def _files(path: str) -> Iterator[Completion]:
    folder, prefix = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return
    for name, is_folder in found:
        if name.startswith(prefix) and (prefix or not name.startswith(".")):
            yield Completion(name + "/" * is_folder, -len(prefix))
