"""Finds the pages that words of a command line mean: files, folders, patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

#: The suffixes of pages in folders.
SUFFIXES = frozenset((".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".ipynb"))


class NoPagesError(Exception):
    """A word means no page; the message says which."""


def is_page(path: Path) -> bool:
    """Return whether the name of a file is that of a page."""
    return path.suffix.lower() in SUFFIXES


def is_there(word: str) -> bool:
    """Return whether a word is that of a file or folder that is there, or a pattern."""
    return os.path.lexists(word) or glob.has_magic(word)


def find_pages(words: Iterable[str]) -> list[Path]:
    """Return the pages, in the order of the words; each once.

    A folder means all pages in it and in its folders, hidden ones aside. A pattern means what it
    matches, where `**` is any number of folders. Raises NoPagesError where a folder has no page, or
    nothing matches; any other word is a page, be it there or not.
    """
    chosen: dict[Path, None] = {}
    for word in words:
        pages = list(_meant(word))
        if not pages:
            problem = "no pages in this folder" if os.path.isdir(word) else "no page matches"
            raise NoPagesError(f"{word or repr(word)}: {problem}")
        chosen.update(dict.fromkeys(pages))
    return list(chosen)


def common_root(words: Iterable[str]) -> Path:
    """Return the deepest folder that has all pages which words may mean, be they there or not."""
    return Path(os.path.commonpath([os.path.abspath(_root(word)) for word in words]))


def _root(word: str) -> str:
    """Return the folder that is a word, or of a page, or above the first magic of a pattern."""
    if os.path.isdir(word):
        return word
    above = os.path.dirname(word)
    return _root(above) if not os.path.lexists(word) and glob.has_magic(above) else above


def _meant(word: str) -> Iterator[Path]:
    if os.path.isdir(word):
        yield from pages_below(Path(word))
    elif os.path.lexists(word) or (word and not glob.has_magic(word)):
        yield Path(word)
    else:
        for name in sorted(glob.glob(word, recursive=True)):
            if os.path.isfile(name):
                yield Path(name)


def pages_below(folder: Path) -> Iterator[Path]:
    """Yield the pages in a folder and in its folders, hidden ones aside."""
    for place, folders, names in os.walk(folder):
        names.sort()
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(place, name)
            # Who reads a pipe, a device or the like may wait for ever.
            if is_page(path) and name[0] != "." and (path.is_file() or not path.exists()):
                yield path
