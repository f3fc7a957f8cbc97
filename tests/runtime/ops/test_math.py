"""Where the reference's mathematics surprises: destinations, wrapping, nan, limits, errors."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("math"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed
