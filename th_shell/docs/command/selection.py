"""Finds the pages that words of a command line mean: files, folders, patterns.

Pages can be divided among machines: each of them finds by itself which pages are its own.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shard:
    """One of several parts. number: from 1; count: how many parts there are."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a text such as '1/4'. Raises ValueError, whose message says what is wrong."""
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and int(count)):
            raise ValueError(f"{text!r} is not like 1/4")
        shard = cls(int(number), int(count))
        if not 1 <= shard.number <= shard.count:
            raise ValueError(f"{text!r}: there are parts from 1 to {shard.count}")
        return shard

    def choose(self, sizes: Mapping[str, int]) -> set[str]:
        """The names of this part's pages. sizes: of all pages by their names, in any unit.

        The largest pages come first, each to the part that has the least by then. All parts
        together have each page once, wherever they are computed.
        """
        parts: list[set[str]] = [set() for _ in range(self.count)]
        loads = [0] * self.count
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            least = loads.index(min(loads))
            parts[least].add(name)
            loads[least] += sizes[name] + 1  # a page takes time even where it has nothing
        return parts[self.number - 1]


#: How the names of pages end, where nobody has named them one by one.
SUFFIXES = frozenset((".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".ipynb"))


class NoPagesError(Exception):
    """A word means no page; the message says which."""


def is_page(path: Path) -> bool:
    """Whether the name of a file is that of a page."""
    return path.suffix.lower() in SUFFIXES


def find_pages(words: Iterable[str]) -> list[Path]:
    """The pages, in the order of the words; each once.

    A folder means all pages in it and in its folders, hidden ones aside. A pattern means what it
    matches, where `**` is any number of folders. Raises NoPagesError where a folder has no page, or
    nothing matches; any other word is a page, be it there or not.
    """
    found: dict[Path, None] = {}
    for word in words:
        pages = list(_meant(word))
        if not pages:
            problem = "no pages in this folder" if os.path.isdir(word) else "no page matches"
            raise NoPagesError(f"{word or repr(word)}: {problem}")
        found.update(dict.fromkeys(pages))
    return list(found)


def _meant(word: str) -> Iterator[Path]:
    if os.path.isdir(word):
        yield from _below(Path(word))
    elif os.path.lexists(word) or (word and not glob.has_magic(word)):
        yield Path(word)
    else:
        for name in sorted(glob.glob(word, recursive=True)):
            if os.path.isfile(name):
                yield Path(name)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(place, name) for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if is_page(path) and not _is_special(path))


def _is_special(path: Path) -> bool:
    """Whether it is a pipe, a device or the like: who reads it may wait for ever."""
    return path.exists() and not path.is_file()


def pages_of_shard(pages: Iterable[Path], shard: Shard) -> list[Path]:
    """The pages of one part, in order; the sizes of the files decide."""
    sizes = {page.as_posix(): _size(page) for page in pages}
    own = shard.choose(sizes)
    return [Path(name) for name in sizes if name in own]


def _size(page: Path) -> int:
    try:
        return page.stat().st_size
    except OSError:
        return 0  # th-docs says of the page that it cannot be read
