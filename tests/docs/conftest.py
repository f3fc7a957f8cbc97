"""The pages of this folder are tests: each of their examples must hold.

session.md shows what only a prompt does: tests/th_shell/session/test_session_page.py pastes it.
"""

import os
from pathlib import Path

import pytest

from tests.mpi import missing_mpi
from th_shell.docs.plugin import collect

if not missing_mpi():
    os.environ["WITH_MPI"] = "1"

collect_ignore = ["session.md"]

#: Pages that take seconds: they train nets, show every call, or run again what depends on chance.
LONG = ["chance.md", "converted.txt", "python_programs.md"]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the pages."""
    page = collect(file_path, parent, ("*.md", "*.rst", "*.txt", "*.ipynb"))
    if page and file_path.name in LONG:
        page.add_marker("thorough")
    return page
