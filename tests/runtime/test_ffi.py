"""Access to elements and structs through FFI."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("ffi"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed
