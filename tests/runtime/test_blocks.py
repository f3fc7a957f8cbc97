"""Small tensors and storages that Lua makes itself, and what else uses their memory."""

from itertools import product

import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.core.dtypes import DTYPES

NAMES = [dtype.name for dtype in DTYPES]


@pytest.mark.parametrize("name", NAMES)
class TestEachType:
    def test_tensors_of_numbers(self, lua: Lua, name: str) -> None:
        lua.run(f"""
            local T = torch.{name}Tensor
            local x = T{{{{1, 2, 3}}, {{4, '5', 6}}}}
            assert(x:size(1) == 2 and x:size(2) == 3 and x:stride(1) == 3 and x[2][2] == 5)
            assert(T{{7}}[1] == 7 and T{{}}:dim() == 0 and T():dim() == 0 and T():storage() == nil)
            assert(T(2, 3, 4):nElement() == 24 and T(2, 3, 4):stride(1) == 12)
            local sized = T(torch.LongStorage{{5, 6}})
            assert(sized:size(sized:dim()) == ('{name}' == 'Long' and 2 or 6))
            assert(#T(2):storage() == 2)
            assert(T(600):fill(0):nElement() == 600 and T(2000):fill(1)[2000] == 1)
        """)

    def test_storages(self, lua: Lua, name: str) -> None:
        lua.run(f"""
            local S, T = torch.{name}Storage, torch.{name}Tensor
            local s = S{{1, 2, '3'}}
            assert(#s == 3 and s[3] == 3 and s:size() == 3 and #S() == 0 and #S(5) == 5)
            local x = T(s, 2, 2)
            s[2] = 9
            assert(x[1] == 9 and x:storage() == s and x:storage() ~= S{{1, 9, 3}})
            assert(torch.pointer(x:storage()) == torch.pointer(s))
            s:resize(2000) -- its elements leave Lua's memory
            s[3] = 8
            assert(x[1] == 9 and x[2] == 8 and x:storage() == s and #x:storage() == 2000)
        """)

    def test_storage_of_a_block(self, lua: Lua, name: str) -> None:
        lua.run(f"""
            local x = torch.{name}Tensor{{{{1, 2}}, {{3, 4}}}}
            local s, row = x:storage(), x[2]
            local other = torch.{name}Tensor():set(row)
            s[4] = 7
            assert(row[2] == 7 and other[2] == 7)
            assert(torch.pointer(row:storage()) == torch.pointer(s))
            x:resize(40, 40) -- the elements leave the block
            x[1][4], s[3] = 5, 6
            assert(s[4] == 5 and row[2] == 5 and row[1] == 6 and other[1] == 6 and #s == 1600)
            x, s, row = nil, nil, nil
            collectgarbage() collectgarbage()
            assert(other[1] == 6 and other:storage()[4] == 5)
        """)

    def test_new_memory_has_the_fill_pattern(self, lua: Lua, name: str) -> None:
        lua.engine.set_fill_pattern(0x3F)
        source = f"""
            local T, S = torch.{name}Tensor, torch.{name}Storage
            local first = T(2000)[1]
            for _, x in ipairs{{T(3), T(2, 2)[1], T():resize(3), S(3), T(2, 1, 2)[2][1]}} do
              assert(x[1] == first and x[2] == first and first ~= 0)
            end
            assert(torch.zeros(3)[2] == 0 and T{{1}}[1] == 1)
        """
        try:
            lua.run(source)
        finally:
            lua.engine.set_fill_pattern(None)


@pytest.mark.parametrize(("source", "message"), data(__file__, "test_wrong_tables"))
def test_wrong_tables(lua: Lua, source: str, message: str) -> None:
    assert lua.error(source) == message


@pytest.mark.unguarded("elements are freed after their tensors")
def test_new_tensors_are_freed_by_the_first_cycle(lua: Lua) -> None:
    lua.run(data(__file__, "test_new_tensors_are_freed_by_the_first_cycle"))


def test_garbage_between_two_cycles_is_bounded(lua: Lua) -> None:
    lua.run(data(__file__, "test_garbage_between_two_cycles_is_bounded"))


def test_environments(lua: Lua) -> None:
    """What the userdata itself has in its place is not to be seen, and stays."""
    lua.run(data(__file__, "test_environments"))


# Values at which conversions differ: signs, limits of the types, what is no number.
VALUES = data(__file__, "VALUES")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_small_copies_are_as_large_ones(lua: Lua, name: str) -> None:
    """Large ones are Python's; each value is copied alone, too."""
    lua.run(f"""
        {VALUES}
        local function same(a, b) return a == b or a ~= a and b ~= b end
        for _, to in ipairs{{ {", ".join(f"'{n}'" for n in NAMES)} }} do
          to = 'torch.' .. to .. 'Tensor'
          for _, v in ipairs(values) do
            local x = torch.{name}Tensor(2000):fill(v)
            local expected = x:type(to)[1]
            local small = torch.{name}Tensor(3):fill(v)
            local wide = torch.{name}Tensor(3, 2):fill(v)
            local target = small:clone():type(to):fill(1)
            assert(same(small:type(to)[2], expected), v .. ' to ' .. to)
            assert(same(target:copy(small)[3], expected), v .. ' copied to ' .. to)
            assert(same(wide:t():type(to)[2][3], expected), v .. ' of columns to ' .. to)
            assert(same(small:typeAs(target)[1], expected))
          end
        end
    """)


LAYOUTS = data(__file__, "LAYOUTS")


@pytest.mark.sample(12)
@pytest.mark.parametrize(("source", "target"), list(product(LAYOUTS, LAYOUTS)))
def test_copies_between_layouts(lua: Lua, source: str, target: str) -> None:
    lua.run(f"""
        local x = torch.range(1, 12):resize(3, 4)
        local from = {source}
        x = torch.FloatTensor(3, 4):zero()
        local to = {target}
        if from:nElement() ~= to:nElement() then return end
        local places, expected = to:clone():view(-1), from:clone():view(-1)
        to:copy(from)
        -- Of several elements at one place the last one counts.
        for i = 1, to:nElement() do places[i] = i end
        x = torch.FloatTensor(3, 4)
        {target}:copy(places:viewAs(to))
        local got = to:clone():view(-1)
        places = {target}:clone():view(-1)
        for i = 1, to:nElement() do assert(got[i] == expected[places[i]]) end
    """)


@pytest.mark.parametrize("dim", [1, 2, 3, -1])
@pytest.mark.parametrize("name", ["Double", "Float", "Long"])
def test_small_tensors_joined(lua: Lua, name: str, dim: int) -> None:
    """With a destination, Python joins them."""
    lua.run(f"""
        local function compare(...)
          local expected = torch.{name}Tensor()
          local whole, wanted = pcall(torch.cat, expected, ...)
          local ok, got = pcall(torch.cat, ...)
          assert(ok == whole)
          if not ok then return assert(got:gsub('%d', '') == wanted:gsub('%d', '')) end
          assert(got:isSameSizeAs(expected) and got:isContiguous())
          local a, b = got:view(-1):totable(), expected:view(-1):totable()
          for i = 1, #b do assert(a[i] == b[i]) end
        end
        local x = torch.range(1, 12):resize(2, 3, 2):type('torch.{name}Tensor')
        local narrow, turned = x:narrow(2, 2, 2), x:transpose(1, 3)
        for _, pair in ipairs{{ {{ x, x }}, {{ x, narrow }}, {{ turned, turned:clone() }},
          {{ x:select(1, 2), x:select(1, 1) }}, {{ x, turned }}, {{ x, x:select(1, 1) }} }} do
          compare(pair[1], pair[2], {dim})
          compare({{ pair[1], pair[2], pair[1] }}, {dim})
        end
    """)


# A finalizer that runs at each collection: it resizes, passes to Python, and fills what it finds.
FINALIZERS = data(__file__, "FINALIZERS")

CALLS = data(__file__, "CALLS")


@pytest.mark.thorough
@pytest.mark.parametrize("rounds", [1, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_finalizers_between_any_two_steps(lua: Lua, rounds: int, compiled: bool) -> None:
    calls = ", ".join(f"function(x) return {call} end" for call in CALLS)
    lua.run(f"""
        jit.{"on" if compiled else "off"}()
        {FINALIZERS}
        for _, call in ipairs{{ {calls} }} do
          for i = 1, {rounds} do
            local x = torch.range(1, 12):clone()
            victims[1] = x
            collectgarbage('setpause', 0) collectgarbage('setstepmul', 100000)
            local ok, result = pcall(call, x)
            collectgarbage('setpause', 200) collectgarbage('setstepmul', 200)
            if not ok then
              assert(result:find('finalizer') or result:find('storage'), result)
            elseif torch.isTensor(result) and result:dim() == 1 and result:size(1) == 12 then
              assert(#result:storage() < 12 or result[12] == 12 or result[12] == 0)
            end
            victims = {{}}
          end
        end
        done = true
        jit.on()
    """)


class TestSerialized:
    def test_file_that_a_method_keeps_is_closed(self, lua: Lua) -> None:
        lua.run(data(__file__, "test_file_that_a_method_keeps_is_closed"))

    def test_tensors_that_a_method_passes_to_python_stay_shared(self, lua: Lua) -> None:
        lua.run(data(__file__, "test_tensors_that_a_method_passes_to_python_stay_shared"))

    def test_an_error_leaves_nothing_behind(self, lua: Lua) -> None:
        lua.run("""
            local before = torch.serialize{ 1, torch.Tensor{1} }
            assert(not pcall(torch.serialize, { 1, torch.Tensor{1}, coroutine.create(print) }))
            assert(not pcall(torch.deserialize, before:sub(1, -9)))
            assert(torch.serialize{ 1, torch.Tensor{1} } == before)
            assert(torch.deserialize(before)[2][1] == 1)
            assert(torch.serialize('a', 'ascii') == '2\\n1\\na\\n', torch.serialize('a', 'ascii'))
        """)

    def test_within_a_method(self, lua: Lua) -> None:
        lua.run(data(__file__, "test_within_a_method"))
