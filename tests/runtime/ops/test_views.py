"""Sub-tensors, views, expanding and squeezing."""

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong


@pytest.mark.parametrize("programs", cases("views"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""
