"""Makes each example of a page a test of pytest. The only module here that imports pytest.

In a conftest.py beside the pages:

    from th_shell.docs.plugin import pages

    pytest_collect_file = pages("*.md")
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from th_shell.docs.checking import Checker, NotCheckedError
from th_shell.docs.judging.verdicts import PageResult, Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import Page
from th_shell.docs.reporting.report import describe_failure
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.configuration import Configuration
from th_shell.docs.settings.settings import Layer, Settings

__all__ = ["pages"]


def pages(
    *patterns: str, timeout: float = 30
) -> Callable[[Path, pytest.Collector], pytest.Collector | None]:
    """A pytest_collect_file hook that collects the pages whose names match."""

    def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if not any(file_path.match(pattern) for pattern in patterns):
            return None
        page = _Page.from_parent(parent, path=file_path)
        page.timeout = timeout
        return page

    return pytest_collect_file


@cache
def _compiler() -> Compiler:
    return Compiler()


@cache
def _starter() -> Starter:
    starter = Starter()
    atexit.register(starter.stop)
    return starter


class _Page(pytest.File):
    """A page; it runs once in each process of pytest, when the first of its tests runs there."""

    timeout: float = 30

    @cached_property
    def page(self) -> Page:
        try:
            return self._checker.read(self.path)
        except NotCheckedError as error:
            raise self.CollectError(str(error)) from None

    @cached_property
    def result(self) -> PageResult:
        return self._checker.check(self.path)

    @property
    def _checker(self) -> Checker:
        said = Configuration(Layer(Settings(timeout=self.timeout)))
        return Checker(_starter(), _compiler(), said)

    def collect(self) -> Iterable[pytest.Item]:
        for index, example in enumerate(self.page.examples):
            headline = example.source.split("\n")[0] or "text"
            name = f"{example.line}: {headline}".encode("ascii", "backslashreplace").decode()
            item = _ExampleTest.from_parent(self, name=name)
            item.index = index
            yield item


class _ExampleFailed(Exception):
    """An example has failed; the message is its report."""


class _ExampleTest(pytest.Item):
    """One example."""

    index: int = 0
    parent: _Page

    def runtest(self) -> None:
        page = self.parent.result
        if page.problem:
            raise _ExampleFailed(page.problem)
        result = page.results[self.index]
        if result.verdict is Verdict.SKIPPED:
            pytest.skip(result.note)
        if result.failed:
            raise _ExampleFailed(describe_failure(page, result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report of an example, without a Python traceback."""
        if isinstance(excinfo.value, _ExampleFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The path of the page, the example's line, from 0, and the test's name."""
        return self.path, self.parent.page.examples[self.index].line - 1, self.name
