"""The module nn.THNN: its functions, and how they find the tensors behind pointers."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

SETUP = """
    THNN = require 'nn.THNN'
    T = THNN.kernels['torch.DoubleTensor']
    x, y = torch.ones(2, 3), torch.Tensor()
"""


@pytest.fixture
def door(lua: Lua) -> Lua:
    """An engine with the globals THNN, T (its functions for doubles), x and y."""
    lua.run(SETUP)
    return lua


def test_what_the_module_has(door: Lua) -> None:
    door.run("""
        assert(THNN.NULL == nil and THNN.getState() == nil and THNN.optionalTensor(nil) == nil)
        assert(torch.pointer(THNN.optionalTensor(x)) == torch.pointer(x))
        assert(torch.FloatTensor().THNN == THNN.kernels['torch.FloatTensor'] and x.THNN == T)
        assert(torch.IntTensor().THNN == nil and T.NoSuchFunction == nil)
        THNN.runKernel('Tanh_updateOutput', 'torch.DoubleTensor', x:cdata(), y:cdata())
        assert(y:isSameSizeAs(x) and y[1][1] == math.tanh(1))
        local bound = THNN.bind(THNN.C, {'Square_updateOutput'}, 'Float', THNN.getState)
        local z = torch.FloatTensor()
        bound.Square_updateOutput(torch.FloatTensor{3}:cdata(), z:cdata())
        assert(z[1] == 9)
    """)


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_wrong_calls"))
def test_wrong_calls(door: Lua, call: str, message: str) -> None:
    assert door.error(call) == message


def test_tensors_that_are_gone(door: Lua) -> None:
    door.run("""
        local functions = {'Tanh_updateOutput', 'LogSoftMax_updateOutput', 'Square_updateOutput'}
        for _, name in ipairs(functions) do
          local gone = {}
          for i = 1, 50 do gone[i] = (i % 2 == 0 and torch.ones(3) or x:narrow(2, 1, 2)):cdata() end
          collectgarbage() collectgarbage()
          for i = 1, 50 do
            local ok, message = pcall(T[name], gone[i], y:cdata())
            assert(not ok and message:find('no tensor lives at this address', 1, true), message)
          end
        end
    """)


def test_pointers_show_every_change_of_geometry(door: Lua) -> None:
    door.run("""
        local c = x:cdata()
        assert(torch.pushudata(c, 'torch.DoubleTensor') == x and c.storage.data[5] == 1)
        x:resize(3, 4)
        assert(c.size[0] == 3 and c.size[1] == 4 and c.stride[0] == 4)
        x:resize(torch.LongStorage{1, 2, 1, 2, 1, 2, 1, 2, 9}) -- more than a struct has room for
        assert(c.nDimension == 9 and c.size[8] == 9)
        x:resize(2)
        assert(c.nDimension == 1)
        local view = torch.range(1, 10):narrow(1, 3, 4)
        local d = view:cdata()
        assert(d.storageOffset == 2)
        view:set(torch.zeros(5))
        assert(d.storageOffset == 0 and d.size[0] == 5)
        local z = torch.range(1, 6):view(2, 3)
        local e = z:cdata()
        torch.svd(z) -- Python gets it
        z:set(z:t())
        assert(e.size[0] == 3 and e.size[1] == 2 and e.stride[0] == 1)
    """)


def test_pointers_stay_valid_as_long_as_their_tensors(door: Lua) -> None:
    door.run("""
        local kept = {}
        for i = 1, 3000 do
          local t = torch.Tensor(3):fill(i)
          kept[i] = {t, t:cdata()}
          if i % 2 == 0 then
            torch.median(t)
            t:resize(4)
          end
        end
        collectgarbage() collectgarbage()
        for i = 1, 3000 do
          local t, c = unpack(kept[i])
          assert(c.size[0] == (i % 2 == 0 and 4 or 3) and c.storage.data[0] == i)
          assert(torch.pointer(t) == torch.pointer(c))
        end
    """)
