"""Layers with a table of connections take input with planes that no connection names."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

_HEAD = data(__file__, "_HEAD")


@pytest.mark.parametrize(
    ("name", "sizes", "printed"),
    data(__file__, "test_planes_without_connections"),
)
def test_planes_without_connections(lua: Lua, name: str, sizes: str, printed: str) -> None:
    assert lua.answer(f"{_HEAD} trained('{name}', {sizes})").strip() == printed
