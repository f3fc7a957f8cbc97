"""What every run of pytest loads of th-docs: its options, and who collects pages if it is asked to.

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
    group.addoption(
        "--th-docs-glob",
        action="append",
        default=[],
        metavar="PATTERN",
        help="collect the pages whose names match instead; may be repeated",
    )
    parser.addini("th_docs_glob", "the pages that --th-docs collects", type="args", default=[])
    parser.addini("th_docs_timeout", "seconds that an example may take (30)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Say what is wrong with the options before tests are collected."""
    configured_timeout(config)


@pytest.hookimpl(trylast=True)  # behind the hooks of conftest.py files
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page, if pages are asked for and no conftest.py collects it."""
    asked = parent.config.option.th_docs_glob
    if not (asked or parent.config.option.th_docs):
        return None
    from th_shell.docs.plugin import collect, collects_already

    patterns = asked or parent.config.getini("th_docs_glob")
    if collects_already(file_path, parent):
        return None
    return collect(file_path, parent, patterns)


def configured_timeout(config: pytest.Config) -> float | None:
    """The seconds that an example may take; None where the setting is not made.

    Raises pytest.UsageError.
    """
    try:
        text = str(config.getini("th_docs_timeout"))
    except ValueError:  # the entry point is not installed, and there is no such setting
        return None
    try:
        seconds = float(text) if text else None
    except ValueError:
        seconds = 0
    if seconds is not None and not seconds > 0:
        raise pytest.UsageError(f"th_docs_timeout: {text!r} is not a positive number of seconds")
    return seconds
