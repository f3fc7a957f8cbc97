"""The module nn.THNN: its functions, and how they find the tensors behind pointers."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

SETUP = data(__file__, "SETUP")


@pytest.fixture
def door(lua: Lua) -> Lua:
    """An engine with the globals THNN, T (its functions for doubles), x and y."""
    lua.run(SETUP)
    return lua


def test_what_the_module_has(door: Lua) -> None:
    door.run(data(__file__, "test_what_the_module_has"))


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_wrong_calls"))
def test_wrong_calls(door: Lua, call: str, message: str) -> None:
    assert door.error(call) == message


def test_tensors_that_are_gone(door: Lua) -> None:
    door.run(data(__file__, "test_tensors_that_are_gone"))


def test_pointers_show_every_change_of_geometry(door: Lua) -> None:
    door.run(data(__file__, "test_pointers_show_every_change_of_geometry"))


def test_pointers_stay_valid_as_long_as_their_tensors(door: Lua) -> None:
    door.run(data(__file__, "test_pointers_stay_valid_as_long_as_their_tensors"))
