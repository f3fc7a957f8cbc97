"""Checks pages as the command line, their folders and they themselves say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from th_shell.docs.judging.pages import Assessment, Options, assess_page, check_page
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PageError
from th_shell.docs.reading.page import Page, read
from th_shell.docs.running import sandbox
from th_shell.docs.running.configured import configured_runner
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.configuration import Configuration, configuration
from th_shell.docs.settings.settings import SettingsError


class NotCheckedError(Exception):
    """A page that cannot be read, or not as it is said of it; the message says why."""


@dataclass(frozen=True)
class ReadPage:
    """A page that has been read, with what runs it and how it is judged."""

    path: Path
    page: Page
    runner: Runner
    options: Options

    def check(self) -> PageResult:
        """Run and judge the examples of the page."""
        return check_page(self.path, self.page, self.runner, self.options)

    def assess(self) -> Assessment:
        """Judge the examples but for the ledger. Raises LedgerError and HiddenError."""
        return assess_page(self.path, self.page, self.runner, self.options)


@dataclass(frozen=True)
class Checker:
    """Reads and checks pages. Any thread may use it.

    said: what holds for all pages, whatever their folders say. update: see `Options`.
    """

    starter: Starter
    compiler: Compiler
    said: Configuration
    update: bool = False

    def check(self, path: Path) -> PageResult:
        """Read, run and judge a page."""
        try:
            return self.read(path).check()
        except NotCheckedError as error:
            return PageResult(path, [], str(error))

    def read(self, path: Path) -> ReadPage:
        """Read a page. Raises NotCheckedError."""
        try:
            said = configuration(path, self.said)
            page = read(path, self.compiler, said.layer, said.language or LUA)
        except OSError as error:
            raise NotCheckedError(f"cannot be read: {error.strerror}") from None
        except (PageError, SettingsError) as error:
            raise NotCheckedError(str(error)) from None
        if said.sandbox and (lack := sandbox.missing()):
            raise NotCheckedError(f"the sandbox cannot be had: {lack}")
        options = Options(said.errata, self.update)
        return ReadPage(path, page, configured_runner(self.starter, said), options)
