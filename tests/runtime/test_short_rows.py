"""Loops of Lua add up many short rows as numpy adds up the same rows among more of them."""

from __future__ import annotations

from tests.conftest import Lua

PROGRAM = """
local ffi = require 'ffi'
local function bytes(x)
  x = x:contiguous()
  return ffi.string(torch.data(x), x:nElement() * x:storage():elementSize())
end
local calls = {
  sum = function(x, dim) return x:sum(dim) end,
  prod = function(x, dim) return x:prod(dim) end,
  mean = function(x, dim) return x:mean(dim) end,
  cumsum = function(x, dim) return x:cumsum(dim) end,
  cumprod = function(x, dim) return x:cumprod(dim) end,
  var = function(x, dim) return x:var(dim) end,
  std = function(x, dim) return torch.std(x.new(), x, dim, true) end,
}
local special = { -0.0, 1e300, -1e300, 1e-310, 3e38, 0 / 0, 1 / 0 }
local ROWS, compared, different = 9, 0, {}
torch.manualSeed(1)
for _, kind in ipairs{ 'Double', 'Float' } do
  for _, n in ipairs{ 2, 7, 8, 9, 10, 15, 16, 17 } do
    local x = torch[kind .. 'Tensor'](ROWS, n):uniform(-2, 2)
    for turn = 0, #special do
      if turn > 0 then x[1 + turn % ROWS]:fill(special[turn]) end
      -- Lua leaves more than 32,768 elements to Python.
      local times = math.ceil(32769 / (ROWS * n))
      local wide = turn % 3 == 0 and x:t():repeatTensor(times, 1):t():contiguous()
      local long = turn % 3 == 1 and x:repeatTensor(times, 1)
      for name, call in pairs(calls) do
        local same = true
        if wide then same = bytes(call(x, 1)) == bytes(call(wide, 1):narrow(2, 1, n)) end
        if long then
          same = bytes(call(x, 2)) == bytes(call(long, 2):narrow(1, 1, ROWS))
        end
        compared = compared + 1
        if not same then different[#different + 1] = ('%s %s %d %d'):format(name, kind, n, turn) end
      end
    end
  end
end
print(compared, table.concat(different, '; '))
"""


def test_same_as_numpy(lua: Lua) -> None:
    assert lua.run(PROGRAM) == "896\t\t\n"
