"""What a class's read does with the file's storage is its own matter."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

KEEPS = data(__file__, "KEEPS")

COUNT = iter(range(100))


@pytest.fixture
def keeps(lua: Lua) -> str:
    """A class whose objects keep, and change, the storage of the file they come from."""
    number = next(COUNT)
    lua.run(KEEPS.format(number))
    return f"Keeps{number}"


@pytest.mark.parametrize("mode", ["binary", "ascii"])
def test_strings_stay_as_they_are(lua: Lua, keeps: str, mode: str) -> None:
    printed = lua.run(f"""
        local text = torch.serialize({keeps}(), '{mode}')
        local before = ('x' .. text):sub(2, -2)
        pcall(torch.deserialize, text, '{mode}')
        print(text:find('B', 1, true), text:sub(1, -2) == before, #{keeps}.kept == #text + 1)
    """)
    assert printed == "nil\ttrue\ttrue\t\n"


def test_what_is_kept_outlives_the_string(lua: Lua, keeps: str) -> None:
    printed = lua.run(f"""
        local text = torch.serialize({keeps}())
        local size = #text + 1
        torch.deserialize(text)
        text = nil
        collectgarbage() collectgarbage()
        local others = {{}}
        for i = 1, 1000 do others[i] = ('%d'):format(i):rep(20) end
        print({keeps}.kept:size() == size, {keeps}.kept:string() == ('B'):rep(size))
    """)
    assert printed == "true\ttrue\t\n"


def test_storages_stay_as_they_are(lua: Lua, keeps: str) -> None:
    printed = lua.run(f"""
        local text = torch.serialize({keeps}())
        local storage = torch.CharStorage():string(text)
        torch.deserializeFromStorage(storage)
        print(storage:size() == #text, storage:string() == text)
    """)
    assert printed == "true\ttrue\t\n"


def test_the_file_goes_on_with_what_was_written(lua: Lua, keeps: str) -> None:
    printed = lua.run(f"print(torch.deserialize(torch.serialize({keeps}())).x)")
    assert printed == f"{0x42424242}\t\n"
