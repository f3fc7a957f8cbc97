"""Tells which pages have changed since a commit of git: ``--changed``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.docs.command.selection import SUFFIXES
from th_shell.docs.settings.sidecar import Sidecar
from th_shell.packages.sources import git
from th_shell.visible import UsageError, complain

#: The branches that a branch may have left.
_BRANCHES = ("@{upstream}", "origin/HEAD", "main", "master")
#: Names that look like a page's, of lists of packages and builds.
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
    own_files = {path for some in places.values() for path in some if not _is_list(path)}
    shared = sorted(
        file for file in files - own_files if file.is_symlink() or not _is_of_page(file)
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


def _is_list(file: Path) -> bool:
    return _LISTS.fullmatch(file.name) is not None


def _is_of_page(file: Path) -> bool:
    """Return whether a file is a page or a sidecar file: no page depends on that of another."""
    return file.suffix in (SUFFIXES - {".txt"}) | {".th-docs"}


def _branches() -> list[str]:
    commits = []
    for name in _BRANCHES:
        with suppress(UsageError):
            commits.append(git("rev-parse", "--verify", f"{name}^{{commit}}").strip())
    return commits
