"""Checking pages as their folders say."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from th_shell.docs.checking import Checker
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter, StoppedError
from th_shell.docs.settings.settings import Configuration


def test_of_a_page_that_is_stopped_nothing_is_written(tmp_path: Path) -> None:
    begun, page = tmp_path / "begun", tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"```lua\nio.open('{begun}', 'w'):close()\nos.execute('sleep 60')\n```\n")
    with Starter() as starter, ThreadPoolExecutor() as pool:
        result = pool.submit(Checker(starter, Compiler(), Configuration(), update=True).check, page)
        while not begun.exists() and not result.done():
            time.sleep(0.01)
        starter.stop()
        with pytest.raises(StoppedError):
            result.result(20)
    assert list(page.parent.iterdir()) == [page]
