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


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the pages."""
    return collect(file_path, parent, ("*.md", "*.rst", "*.txt", "*.ipynb"))
