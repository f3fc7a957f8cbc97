"""The pages of this folder are tests: each of their examples must hold."""

from th_shell.docs.plugin import pages

pytest_collect_file = pages("*.md", "*.rst", "*.txt", "*.ipynb")
