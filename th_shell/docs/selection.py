"""Finds the pages that words of a command line mean, and those which have changed (``--changed``).

A word is a file, a folder or a pattern.
"""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.docs.settings.sidecar import Sidecar
from th_shell.packages.sources import git
from th_shell.patterns import pattern
from th_shell.visible import UsageError, complain

#: The suffixes of pages in folders.
SUFFIXES = frozenset((".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".ipynb"))
#: The files of Python's packages that are no modules to import.
_MAIN = "__main__.py"


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
        pages = list(_pages_of_word(word))
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


def _pages_of_word(word: str) -> Iterator[Path]:
    if os.path.isdir(word):
        yield from pages_below(Path(word))
    elif os.path.lexists(word) or (word and not glob.has_magic(word)):
        yield Path(word)
    else:
        for name in sorted(glob.glob(word, recursive=True)):
            if os.path.isfile(name):
                yield Path(name)


def pages_below(folder: Path) -> Iterator[Path]:
    """Yield the pages in a folder and in its folders, hidden ones aside.

    In a package of Python, these are also the modules that have examples in docstrings.
    """
    is_package = Path(folder, "__init__.py").exists()
    for place, folders, names in os.walk(folder):
        names.sort()
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(place, name)
            # Who reads a pipe, a device or the like may wait for ever.
            is_meant = is_page(path) or is_package and _has_doctests(path)
            if is_meant and name[0] != "." and (path.is_file() or not path.exists()):
                yield path


def _has_doctests(path: Path) -> bool:
    if path.suffix != ".py" or path.name == _MAIN or not path.is_file():
        return False
    try:
        return b">>> " in path.read_bytes()
    except OSError:
        return True  # which the page's report says


# -- pages that have changed

#: The branches that a branch may have left.
_BRANCHES = ("@{upstream}", "origin/HEAD", "main", "master")
#: Names that look like a page's, of lists of packages and builds.
_LISTS = pattern(r"(?:requirements|constraints|CMakeLists).*\.txt")


def changed_pages(pages: Sequence[Path], base: str) -> list[Path]:
    """Return the pages whose verdicts may not be those of a commit; say how many there are.

    It is the last one that HEAD has in common with a base, or with all branches that it may have
    come from. A page has changed, too, if its file beside it has, wherever that is. What is neither
    a page nor beside one, each page may depend on: settings, code, data, versions. Raises
    UsageError.
    """
    top = Path(git("rev-parse", "--show-toplevel").rstrip("\n"))
    for page in pages:
        if not page.resolve().is_relative_to(top):
            raise UsageError(f"{page} is not in the repository {top}")
    commit = git("merge-base", "--octopus", "HEAD", *([base] if base else _branches())).strip()
    files = _changed_files(top, commit)
    names = {file.name for file in files}
    places = {page: {page.parent.resolve() / page.name, page.resolve()} for page in pages}
    page_files = {path for paths in places.values() for path in paths if not _is_shared(path)}
    shared = sorted(
        file for file in files - page_files if file.is_symlink() or not _is_of_page(file)
    )
    changed = [
        page
        for page in pages
        if shared or places[page] & files or Sidecar.of(page).path.name in names
    ]
    more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
    why = f", or may depend on {shared[0].relative_to(top)}{more}" if shared else ""
    count = f"{len(changed)} of {len(pages)}"
    complain(f"{count} pages have changed since {commit[:10]}{why}", "th-docs")
    return changed


def _changed_files(top: Path, commit: str) -> set[Path]:
    """Return the files of a repository that have changed since a commit, or are new."""
    listed = git("-C", str(top), "diff", "-z", "--name-only", "--no-relative", commit)
    listed += git("-C", str(top), "ls-files", "-z", "--others", "--exclude-standard")
    return {top / name for name in listed.split("\0") if name}


def _is_shared(file: Path) -> bool:
    """Return whether other pages may depend on a page: a list of packages, or a module."""
    return file.suffix == ".py" or _LISTS.fullmatch(file.name) is not None


def _is_of_page(file: Path) -> bool:
    """Return whether a file is a page or a sidecar file: no page depends on that of another."""
    return file.suffix in (SUFFIXES - {".txt"}) | {".th-docs"}


def _branches() -> list[str]:
    commits = []
    for name in _BRANCHES:
        with suppress(UsageError):
            commits.append(git("rev-parse", "--verify", f"{name}^{{commit}}").strip())
    return commits
