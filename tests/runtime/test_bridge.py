"""Userdata on one side, Python objects on the other: identity, lifetime, leaks."""

import gc

import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.core.memory import SLOTS, Memory
from th_shell.runtime.core.state import current
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor


class TestUserdata:
    @pytest.mark.parametrize(
        ("source", "printed"),
        [
            ("type(torch.Tensor()), type(torch.LongStorage())", "userdata\tuserdata\t\n"),
            ("torch.typename(torch.Tensor()[{}])", "torch.DoubleTensor\t\n"),
        ],
    )
    def test_what_it_is(self, lua: Lua, source: str, printed: str) -> None:
        assert lua(source) == printed

    @pytest.mark.parametrize(
        ("call", "same"), data(__file__, "test_in_place_calls_return_the_same_userdata")
    )
    def test_in_place_calls_return_the_same_userdata(self, lua: Lua, call: str, same: bool) -> None:
        source = f"local x = torch.ones(2, 3) print(rawequal(x, {call}))"
        assert lua(source) == f"{str(same).lower()}\t\n"

    def test_userdata_are_keys(self, lua: Lua) -> None:
        source = "local x = torch.ones(2) local t = { [x] = 5 } print(t[x], t[x:clone()])"
        assert lua(source) == "5\tnil\t\n"

    def test_userdata_that_is_not_ours(self, lua: Lua) -> None:
        message = lua.error("torch.add(newproxy(true), 1)")
        assert message.startswith("invalid arguments: userdata number \nexpected arguments: ")


class TestViewsMadeInLua:
    """They have a struct of their own until Python gets to know them."""

    @pytest.mark.parametrize(
        "view",
        data(__file__, "test_writes_reach_the_source"),
    )
    @pytest.mark.parametrize("known", [False, True], ids=["unknown to Python", "known to Python"])
    def test_writes_reach_the_source(self, lua: Lua, view: str, known: bool) -> None:
        lua(f"x = torch.zeros(2, 3) v = {view};")
        if known:
            lua("v:isContiguous();")
        lua("v[1] = 5 v:narrow(1, 2, 2):fill(6);")
        assert lua("x[2][1], x[{2, 2}], x[-1][-1], x[1][1]") == "5\t6\t6\t0\t\n"

    def test_struct_stays_when_python_gets_to_know_it(self, lua: Lua) -> None:
        lua("x = torch.range(1, 6):resize(2, 3) v = x[2];")
        assert lua("v:size(1), v:sum(), v:size(1), v[3]") == "3\t15\t3\t6\t\n"
        lua("v:resize(2);")
        assert lua("v:size(1), v:nElement(), torch.cdata(v).size[0] == 2") == "2\t2\ttrue\t\n"

    def test_keep_their_memory(self, lua: Lua) -> None:
        lua("v = torch.Tensor(1000, 1000):fill(3)[7] collectgarbage() collectgarbage();")
        lua("torch.Tensor(1000, 1000):fill(9);")
        assert lua("v:sum(), v[1000]") == "3000\t3\t\n"

    def test_set_and_resize_leave_the_source(self, lua: Lua) -> None:
        lua("x = torch.zeros(2, 3) v = x[1] v:set(torch.ones(4)) v:fill(2);")
        assert lua("x:sum(), v:sum(), x[1]:sum()") == "0\t8\t0\t\n"


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new() -> None:
    """Let Python's collector pass over what the tests before have left."""
    gc.collect()
    gc.freeze()


def live(kind: type) -> int:
    return sum(isinstance(thing, kind) for thing in gc.get_objects())


def settle(lua: Lua) -> float:
    """Collect on both sides; the memory that Lua uses then, in kB."""
    for _ in range(4):
        lua("collectgarbage()")
        gc.collect()
    return float(lua("collectgarbage('count')"))


LEAKS = data(__file__, "LEAKS")


#: The library's list of free slots for Python objects: all slots that no object has are on it.
LOST_SLOTS = data(__file__, "LOST_SLOTS")


@pytest.mark.sample(1)
@pytest.mark.parametrize("body", LEAKS.values(), ids=LEAKS.keys())
def test_nothing_leaks(lua: Lua, body: str) -> None:
    lost = int(lua.run(LOST_SLOTS))
    lua(f"x = torch.range(1, 6):resize(2, 3) function work(n) for i = 1, n do {body} end end")
    lua("work(1000)")  # LuaJIT's traces stay
    memory = settle(lua)
    tensors, storages, held = live(Tensor), live(Storage), current(Memory).meter.live
    lua("work(600)")
    assert settle(lua) < memory + 150
    assert live(Tensor) <= tensors + 3
    assert live(Storage) <= storages + 3
    assert current(Memory).meter.live <= held + 1000
    # One may go where a storage comes again between two steps of the collector.
    assert int(lua.run(LOST_SLOTS)) <= lost + 40


@pytest.mark.thorough
def test_slots_are_used_again(lua: Lua) -> None:
    source = "for i = 1, 3000 do local c = torch.cdata(torch.Tensor(2):storage()) end"
    lua(source)
    settle(lua)
    free = len(SLOTS._free)
    for _ in range(3):
        lua(source)
        settle(lua)
    assert len(SLOTS._free) <= free + 10
