"""apply, map and map2."""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.transcripts import Entry, cases, wrong


@pytest.mark.parametrize("programs", cases("loops"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_not_a_function"))
def test_not_a_function(lua: Lua, call: str, message: str) -> None:
    assert lua.error(f"local x = torch.ones(3) local r = {call}") == message


def test_errors_of_the_function_pass(lua: Lua) -> None:
    source = "local x = torch.ones(3) x:apply(function(v) error('mine') end)"
    assert lua.error(source) == "mine"


def test_the_functions_error_keeps_its_value(lua: Lua) -> None:
    lua("function fail() error({7}) end;")
    assert lua("select(2, pcall(torch.ones(1).apply, torch.ones(1), fail))[1]") == "7\t\n"
