"""Tells which pages have changed since a commit of git: ``--changed``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.docs.command.selection import SUFFIXES
from th_shell.docs.settings.beside import Beside
from th_shell.packages.sources import git
from th_shell.visible import UsageError, complain

#: What a branch may have come from, and go back to.
_BRANCHES = ("@{upstream}", "origin/HEAD", "main", "master")
#: What looks like a page, and is a list of what is installed or built.
_LISTS = re.compile(r"(?:requirements|constraints|CMakeLists).*\.txt")


def changed_pages(pages: Sequence[Path], base: str) -> list[Path]:
    """Return the pages whose verdicts may not be those of a commit; say how many there are.

    It is the last one that HEAD has in common with a base, or with all branches that it may have
    come from. A page has changed, too, if its file beside it has, wherever that is. What is neither
    a page nor beside one, each page may depend on: settings, code, data, versions. Raises
    UsageError.
    """
    top = Path(git("rev-parse", "--show-toplevel").rstrip("\n"))
    commit = git("merge-base", "--octopus", "HEAD", *([base] if base else _branches())).strip()
    listed = git("-C", str(top), "diff", "-z", "--name-only", "--no-relative", commit)
    listed += git("-C", str(top), "ls-files", "-z", "--others", "--exclude-standard")
    files = {top / name for name in listed.split("\0") if name}
    names = {file.name for file in files}
    places = {page: {page.parent.resolve() / page.name, page.resolve()} for page in pages}
    for page in pages:
        if not page.resolve().is_relative_to(top):
            raise UsageError(f"{page} is not in the repository {top}")
    known = {path for own in places.values() for path in own if not _LISTS.fullmatch(path.name)}
    shared = sorted(one for one in files - known if one.is_symlink() or not _is_of_page(one))
    found = [
        page
        for page in pages
        if shared or places[page] & files or Beside.of(page).path.name in names
    ]
    others = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
    why = f", or may depend on {shared[0].relative_to(top)}{others}" if shared else ""
    complain(f"{len(found)} of {len(pages)} pages have changed since {commit[:10]}{why}", "th-docs")
    return found


def _is_of_page(file: Path) -> bool:
    """Whether a file is a page, or beside one, whichever is run: others do not depend on it."""
    return file.suffix in (SUFFIXES - {".txt"}) | {".th-docs"}


def _branches() -> list[str]:
    found = []
    for name in _BRANCHES:
        with suppress(UsageError):
            found.append(git("rev-parse", "--verify", f"{name}^{{commit}}").strip())
    return found
