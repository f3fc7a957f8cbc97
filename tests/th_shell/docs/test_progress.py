"""The line that tells how far a run has come."""

import os
import pty
import select
import time
from collections.abc import Iterator

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reporting import progress as module
from th_shell.docs.reporting.progress import Progress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "_FIRST", 0.01)
    monkeypatch.setattr(module, "_EVERY", 0.05)
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def written(descriptor: int) -> bytes:
    found = b""
    while select.select([descriptor], [], [], 0)[0]:
        found += os.read(descriptor, 4096)
    return found


def test_the_line() -> None:
    progress = Progress(3)
    progress.begin("a\x1b.md")
    progress.begin("page.md")
    assert progress.line(80) == "0/3 pages, 0 examples, 0 failed, 0 s  a\\027.md"
    progress.finish(page(result(), result(Verdict.PASS), name="a\x1b.md"))
    assert progress.line(80) == "1/3 pages, 2 examples, 1 failed, 0 s  page.md"
    assert progress.line(10) == "1/3 pages"


def test_a_terminal_shows_it_and_it_is_gone_at_the_end(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    with Progress(2, theirs) as progress:
        progress.begin("page.md")
        shown = b""
        until = time.monotonic() + 10
        while b"page.md" not in shown and time.monotonic() < until:
            shown += written(ours)
            time.sleep(0.01)
    shown += written(ours)
    assert b"\r\x1b[K0/2 pages, 0 examples, 0 failed, 0 s  page.md" in shown
    assert shown.endswith(b"\r\x1b[K")


def test_a_dumb_terminal_shows_nothing(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Progress(2, terminal[1]):
        time.sleep(0.1)
    assert written(terminal[0]) == b""


def test_a_file_gets_nothing(terminal: tuple[int, int]) -> None:
    ours, theirs = os.pipe()
    with Progress(2, theirs):
        time.sleep(0.1)
    os.close(theirs)
    assert os.read(ours, 10) == b""
    os.close(ours)
