"""Tells which pages have changed since a commit of git: ``--changed``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.docs.settings.beside import Beside
from th_shell.docs.settings.configuration import FILE
from th_shell.packages.sources import git
from th_shell.visible import UsageError, complain

#: What a branch may have come from, and go back to.
_BRANCHES = ("@{upstream}", "origin/HEAD", "main", "master")


def changed_pages(pages: Sequence[Path], base: str) -> list[Path]:
    """Those pages that are not as they were in a commit; says on the standard error how many.

    It is the last one that HEAD has in common with a base, or with all branches that it may have
    come from. A page has changed, too, if its file beside it has, wherever that is, or the settings
    of its folder. Raises UsageError.
    """
    top = Path(git("rev-parse", "--show-toplevel").rstrip("\n"))
    commit = git("merge-base", "--octopus", "HEAD", *([base] if base else _branches())).strip()
    listed = git("-C", str(top), "diff", "-z", "--name-only", "--no-relative", commit)
    listed += git("-C", str(top), "ls-files", "-z", "--others", "--exclude-standard")
    files = {top / name for name in listed.split("\0") if name}
    names = {file.name for file in files}
    folders = {file.parent for file in files if file.name == FILE}

    def is_changed(page: Path) -> bool:
        path = page.resolve()
        if not path.is_relative_to(top):
            raise UsageError(f"{page} is not in the repository {top}")
        return bool({path, *path.parents} & (files | folders)) or Beside.of(page).path.name in names

    found = [page for page in pages if is_changed(page)]
    complain(f"{len(found)} of {len(pages)} pages have changed since {commit[:10]}", "th-docs")
    return found


def _branches() -> list[str]:
    found = []
    for name in _BRANCHES:
        with suppress(UsageError):
            found.append(git("rev-parse", "--verify", f"{name}^{{commit}}").strip())
    return found
