"""``th-docs init``: writes the files by which a project's pages are tested from then on."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from th_shell.docs.command.run_options import Parser
from th_shell.docs.command.selection import NoPagesError, find_pages
from th_shell.docs.reporting.reporter import write_text
from th_shell.files import write_file
from th_shell.visible import complain

_CANNOT_WRITE = 2

_CONFTEST = """\
\"\"\"The pages of this folder and of those below are tests: each of their examples must hold.\"\"\"

from th_shell.docs.plugin import pages

pytest_collect_file = pages({patterns})
"""


def main(words: Sequence[str]) -> int:
    """Write the files; the exit status."""
    options = _parsed(words)
    for path, text in _files(Path(options.folder)).items():
        if os.path.lexists(path) and not options.force:
            write_text(f"kept {path}, which was there (--force replaces it)\n", 1)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            complain(f"{path} cannot be written: {error.strerror}", "th-docs init")
            return _CANNOT_WRITE
        write_text(f"wrote {path}\n", 1)
    return 0


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        prog="th-docs init",
        description="Write settings for the pages of a folder (th-docs.toml), a conftest.py by "
        "which pytest runs them, and a workflow of GitHub (.github/workflows/docs.yml).",
    )
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="where the pages are (default: .)"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    options = parser.parse_args(words)
    if not os.path.isdir(options.folder):
        parser.error(f"no such folder: {options.folder}")
    return options


def _files(folder: Path) -> dict[Path, str]:
    """The texts of the files. The workflow is at the top of the project: the current folder."""
    top, shown = Path(), os.path.relpath(folder)
    if shown.startswith(os.pardir):
        top, shown = folder, os.curdir
    workflow = _beside("workflow.yml").format(folder=shlex.quote(shown))
    return {
        folder / "th-docs.toml": _beside("settings.toml"),
        folder / "conftest.py": _CONFTEST.format(patterns=_patterns(folder)),
        top / ".github" / "workflows" / "docs.yml": workflow,
    }


def _beside(name: str) -> str:
    """The text of a file that is written as it stands beside this module, or nearly so."""
    return Path(__file__).with_name(name).read_text("utf-8")


def _patterns(folder: Path) -> str:
    try:
        suffixes = {page.suffix for page in find_pages([str(folder)])}
    except NoPagesError:
        suffixes = {".md"}  # the pages are still to be written
    return ", ".join(f'"*{suffix}"' for suffix in sorted(suffixes))
