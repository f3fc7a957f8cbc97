"""The answers of files and of serialization are those that the real Torch7 gave."""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong


@pytest.mark.parametrize("programs", cases("files") + cases("serialize"))
def test_transcript(
    lua: Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: list[Entry]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert wrong(programs, lua.answer_anew) == ""
    assert not list(tmp_path.iterdir())
