"""Makes each example of a page a test of pytest.

`pytest --th-docs` collects pages (see `pytest_entry`). A conftest.py can collect those beside it:

    from th_shell.docs.plugin import pages

    pytest_collect_file = pages("*.md")

A page runs as a whole when the first of its tests does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from th_shell.docs.checking import ReadPage, check_page, shared_checker
from th_shell.docs.command.selection import is_page
from th_shell.docs.judging.verdicts import EXPECTED_TO_FAIL, NOT_CHECKED, PageResult
from th_shell.docs.reading.examples import Example
from th_shell.docs.reporting.report import describe_failure
from th_shell.docs.reporting.results_files import names_of_tests
from th_shell.docs.settings.settings import PageError

#: A pytest_collect_file hook.
_Hook = Callable[[Path, pytest.Collector], pytest.Collector | None]

#: The pages that hooks of conftest.py files have collected.
_COLLECTED = pytest.StashKey[set[Path]]()


def pages(*patterns: str) -> _Hook:
    """Return a pytest_collect_file hook that collects the pages whose names match."""

    def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        page = collect(file_path, parent, patterns) if patterns else None
        if page:
            parent.config.stash.setdefault(_COLLECTED, set()).add(file_path)
        return page

    return pytest_collect_file


def collect(
    path: Path, parent: pytest.Collector, patterns: Sequence[str]
) -> pytest.Collector | None:
    """Collect a page whose name matches a pattern, or without patterns, ends as a page's does."""
    if not (any(map(path.match, patterns)) if patterns else is_page(path)):
        return None
    if not parent.config.pluginmanager.has_plugin(_Durations.__name__):
        parent.config.pluginmanager.register(_Durations(), _Durations.__name__)
    return _Page.from_parent(parent, path=path)


def collects_already(path: Path, parent: pytest.Collector) -> bool:
    """Return whether the hook of a conftest.py, which is called first, has collected a page."""
    return path in parent.config.stash.get(_COLLECTED, ())


class _Page(pytest.File):
    """A page."""

    @cached_property
    def read(self) -> ReadPage:
        try:
            return shared_checker().read(self.path)
        except PageError as error:
            raise self.CollectError(str(error)) from None

    @property
    def examples(self) -> Sequence[Example]:
        return self.read.page.examples

    @cached_property
    def found(self) -> tuple[PageResult, float]:
        """The results of the page, and how many seconds it took to find them."""
        start = time.monotonic()
        result = check_page(*self.read)
        return result, time.monotonic() - start

    def collect(self) -> Iterable[pytest.Item]:
        for index, name in enumerate(names_of_tests(self.examples)):
            # As a whole, the id is read in one way wherever pytest reads it: names have brackets.
            node = f"{self.nodeid}::{name}"
            item = _ExampleTest.from_parent(self, name=name, nodeid=node)
            item.index = index
            yield item
        if not self.examples and (problem := self.found[0].problem):
            raise self.CollectError(problem)  # all of its examples are gone


class _ExampleFailed(Exception):
    """An example has failed; the message is its report."""


class _ExampleTest(pytest.Item):
    """One example."""

    index: int = 0
    parent: _Page

    def runtest(self) -> None:
        page, _ = self.parent.found
        if not page.results:
            raise _ExampleFailed(page.problem)
        result = page.results[self.index]
        self.user_properties.append(("verdict", result.verdict.value))
        if result.verdict in NOT_CHECKED:
            pytest.skip(result.note)
        if result.verdict in EXPECTED_TO_FAIL:
            pytest.xfail(f"{result.verdict.value}: {result.note}")
        if result.failed:
            raise _ExampleFailed(describe_failure(page, result))

    @property
    def duration(self) -> float:
        """The seconds that the example has taken: its part of what the page took."""
        page, seconds = self.parent.found
        whole = sum(result.seconds for result in page.results)
        part = page.results[self.index].seconds / whole if whole else 1 / len(self.parent.examples)
        return seconds * part

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of an example, without a Python traceback."""
        if isinstance(excinfo.value, _ExampleFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the path of the page, the example's line, from 0, and the test's name."""
        return self.path, self.parent.examples[self.index].line - 1, self.name


class _Durations:
    """Tells pytest how long examples took: a page runs as a whole, in the first of its tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        # There are no results where the page's run was interrupted.
        if isinstance(item, _ExampleTest) and call.when == "call" and "found" in vars(item.parent):
            report.duration = item.duration
        return report
