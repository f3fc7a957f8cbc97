"""The class system, and what the reference's LuaJIT has that this build has not."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("class"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed
