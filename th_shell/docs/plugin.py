"""Makes each example of a page a test of pytest.

`pytest --th-docs` collects pages (see `pytest_entry`). A page runs as a whole when the first of its
tests does.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from th_shell.docs.checking import ReadPage, check_page, shared_checker
from th_shell.docs.judging.verdicts import EXPECTED_TO_FAIL, NOT_CHECKED, PageResult
from th_shell.docs.reading.examples import Example
from th_shell.docs.reporting.report import describe_failure
from th_shell.docs.reporting.results_files import names_of_tests
from th_shell.docs.selection import is_page
from th_shell.docs.settings.settings import PageError


def collect(
    path: Path, parent: pytest.Collector, patterns: Sequence[str]
) -> pytest.Collector | None:
    """Collect a page whose name matches a pattern, or without patterns, ends as a page's does."""
    is_meant = any(map(path.match, patterns)) if patterns else is_page(path)
    return _Page.from_parent(parent, path=path) if is_meant else None


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
    def result(self) -> PageResult:
        """The results of the page."""
        return check_page(*self.read)

    def collect(self) -> Iterable[pytest.Item]:
        for index, name in enumerate(names_of_tests(self.examples)):
            # As a whole, the id is read in one way wherever pytest reads it: names have brackets.
            node = f"{self.nodeid}::{name}"
            item = _ExampleTest.from_parent(self, name=name, nodeid=node)
            item.index = index
            yield item
        if self.read.page.least or not self.examples and self.read.page.sidecar.verdicts():
            yield _WholePageTest.from_parent(self, name="page")


class _ExampleFailed(Exception):
    """An example has failed; the message is its report."""


class _ExampleTest(pytest.Item):
    """One example."""

    index: int = 0
    parent: _Page

    def runtest(self) -> None:
        page = self.parent.result
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

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of an example, without a Python traceback."""
        if isinstance(excinfo.value, _ExampleFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the path of the page, the example's line, from 0, and the test's name."""
        return self.path, self.parent.examples[self.index].line - 1, self.name


class _WholePageTest(_ExampleTest):
    """The test of what must hold of a page as a whole, such as the share that is checked."""

    def runtest(self) -> None:
        if self.parent.result.problem:
            raise _ExampleFailed(self.parent.result.problem)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
