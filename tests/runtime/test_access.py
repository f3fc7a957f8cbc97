"""Indexing from Lua, read and write."""

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong


@pytest.mark.sample(11)
@pytest.mark.parametrize("programs", cases("access"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""
