"""Layers with a table of connections take input with planes that no connection names."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

_HEAD = data(__file__, "_HEAD")


@pytest.mark.parametrize(
    ("name", "sizes", "printed"),
    [  # What the real Torch7 prints.
        ("SpatialConvolutionMap", "3, 4, 3", "47.63265 211.21949 211.21949 72.53061"),
        ("SpatialConvolutionMap", "2, 3, 4, 3", "69.10787 297.35943 297.35943 123.60350"),
        ("SpatialFullConvolutionMap", "3, 2, 2", "39.56560 197.80758 197.80758 101.01166"),
    ],
)
def test_planes_without_connections(lua: Lua, name: str, sizes: str, printed: str) -> None:
    assert lua.answer(f"{_HEAD} trained('{name}', {sizes})").strip() == printed
