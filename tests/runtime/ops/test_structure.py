"""Constructors, queries, types, set, resize, copy."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("structure"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed
