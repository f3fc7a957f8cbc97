"""Constructors, queries, types, set, resize, copy."""

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong


@pytest.mark.parametrize("programs", cases("structure"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""
