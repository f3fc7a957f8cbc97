"""The class system, and what the reference's LuaJIT has that this build has not."""

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong


@pytest.mark.parametrize("programs", cases("class"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""
