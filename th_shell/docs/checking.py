"""Checks pages as the command line, their folders and they themselves say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.judging.pages import check_page
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA
from th_shell.docs.reading.page import Page, read
from th_shell.docs.running import sandbox
from th_shell.docs.running.configured import configured_runner
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.configuration import Configuration, configuration
from th_shell.docs.settings.settings import PageError


class ReadPage(NamedTuple):
    """A page that has been read, and what runs it."""

    page: Page
    runner: Runner


@dataclass(frozen=True)
class Checker:
    """Reads and checks pages. Any thread may use it.

    said: what holds for all pages, whatever their folders say. update: see `check_page`.
    """

    starter: Starter
    compiler: Compiler
    said: Configuration
    update: bool = False

    def check(self, path: Path) -> PageResult:
        """Read, run and judge a page."""
        try:
            return check_page(*self.read(path), self.update)
        except PageError as error:
            return PageResult(path, [], str(error))

    def read(self, path: Path) -> ReadPage:
        """Read a page. Raises PageError."""
        try:
            said = configuration(path, self.said)
            page = read(path, self.compiler, said.layer, said.language or LUA, said.errata)
        except OSError as error:
            raise PageError(f"cannot be read: {error.strerror}") from None
        if said.sandbox and (lack := sandbox.missing()):
            raise PageError(f"the sandbox cannot be had: {lack}")
        return ReadPage(page, configured_runner(self.starter, said))
