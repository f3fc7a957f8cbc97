"""The package image: what the reference prints, files, and what it does where libraries lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal

HERE = Path(__file__).parent / "transcripts"


@pytest.mark.parametrize(("source", "printed"), cases("image", HERE))
def test_as_the_reference(
    lua: Lua, source: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert normal(lua.answer(source)) == printed
