"""Storages as Lua sees them."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("storage"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed
