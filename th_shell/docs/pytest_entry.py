"""The entry point of pytest: the options of th-docs, and the hook that collects pages.

Pages become tests in `plugin`, which is imported when the first page is found: pytest starts as
quickly in projects that have no pages.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and settings."""
    group = parser.getgroup("th-docs", "examples of documentation pages (th-docs)")
    group.addoption(
        "--th-docs", action="store_true", help="collect documentation pages: Markdown, text, …"
    )
    parser.addini("th_docs_glob", "the pages that --th-docs collects", type="args", default=[])


@pytest.hookimpl(trylast=True)  # behind the hooks of conftest.py files
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page, if pages are asked for and no conftest.py collects it."""
    if not parent.config.option.th_docs:
        return None
    from th_shell.docs.plugin import collect, collects_already

    if collects_already(file_path, parent):
        return None
    return collect(file_path, parent, parent.config.getini("th_docs_glob"))
