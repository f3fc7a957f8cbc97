"""The answers of files and of serialization are those that the real Torch7 gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("files") + cases("serialize"))
def test_transcript(
    lua: Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, printed: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert normal(lua.answer(source)) == printed
    assert not list(tmp_path.iterdir())
