"""The entry point of pytest: the options of th-docs, and the hook that collects pages.

Pages become tests in `plugin`, which is imported when the first page is found: pytest starts as
quickly in projects that have no pages.
"""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and settings."""
    group = parser.getgroup("th-docs", "examples of documentation pages (th-docs)")
    group.addoption(
        "--th-docs", action="store_true", help="collect documentation pages: Markdown, text, …"
    )
    parser.addini("th_docs_glob", "the pages that --th-docs collects", type="args", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page, if pages are asked for."""
    if not parent.config.option.th_docs:
        return None
    from th_shell.docs.plugin import collect

    return collect(file_path, parent, parent.config.getini("th_docs_glob"))
