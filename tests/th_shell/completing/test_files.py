from __future__ import annotations

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.completing.candidates import modules


@pytest.mark.parametrize(("prefix", "expected"), data(__file__, "test_modules"))
def test_modules(tmp_path: Path, prefix: str, expected: list[str]) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "none").mkdir()
    for name in ("lib/init.lua", "lib/inner.lua", "plain.lua", "page.md"):
        (tmp_path / name).touch()
    patterns = f"{tmp_path}/?.lua;{tmp_path}/?/init.lua;/nowhere/?.lua;/fixed.lua"
    found = [name for name in modules(prefix, patterns) if name != "lib.init"]
    assert found == expected


def test_modules_whose_files_begin_with_something(tmp_path: Path) -> None:
    (tmp_path / "m_one.lua").touch()
    (tmp_path / "two.lua").touch()
    assert modules("", f"{tmp_path}/m_?.lua") == ["one"]
