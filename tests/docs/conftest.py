"""The pages of this folder are tests: each of their examples must hold.

session.md shows what only a prompt does: tests/th_shell/session/test_session_page.py pastes it.
"""

import os

from tests.mpi import missing_mpi
from th_shell.docs.plugin import pages

if not missing_mpi():
    os.environ["WITH_MPI"] = "1"

collect_ignore = ["session.md"]
pytest_collect_file = pages("*.md", "*.rst", "*.txt", "*.ipynb")
